"""What changed since the day before, or against a chosen baseline."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.changes import INPUTS, LEAST_STEP_CHANGE, MOST_Q, changes
from analysis.interrupt_rates import FEW_EVENTS
from analysis.lost_time import LostTime
from reports import _baseline, _change_chart, _change_words, _sql
from reports._baseline import Sides
from reports._numbers import percent
from reports._runs import MOST_ROWS
from reports._section import Column, Content, Listing, Scope, Section
from reports._words import listed, name, plural

_HINT: Final = (
    "A second day of telemetry gives the last day something to be held against; so does"
    " gpuledger report --compare with another run of the lake, a day (2026-03-01), or"
    " the folder of another lake."
)

_SQL: Final = """\
SELECT day, category,
       sum(gpu_ns)::DOUBLE / sum(sum(gpu_ns)::DOUBLE) OVER (PARTITION BY day) AS share
FROM lost_time
${where}GROUP BY day, category
ORDER BY day, category"""

#: Verdicts that are told, in this order.
_TOLD: Final = ("worse", "new", "better", "gone")

_COLUMNS: Final = (
    Column("What"),
    Column("Before", is_number=True),
    Column("Now", is_number=True),
    Column("Change", is_number=True),
    Column(
        "Noise",
        "Half the width of the 95 % interval of the change, from the spread of days or"
        " of blocks of ten steps.",
        is_number=True,
    ),
    Column("Verdict"),
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return what is better, worse, new or gone."""
    sides = _baseline.sides(frames, scope)
    if sides is None:
        return _alone(frames, scope)
    rows = _ordered(changes(sides.before, sides.now))
    if rows.is_empty():
        return Content(
            heading=f"Nothing of {sides.subject} can be held against {sides.against}.",
            empty=_HINT,
        )
    return Content(
        heading=_heading(rows, sides),
        paragraphs=[_how(rows, sides), *_visible(rows)],
        charts=_change_chart.chart(rows, sides),
        listings=[_listing(rows, scope)],
    )


def _alone(frames: Frames, scope: Scope) -> Content:
    """Return what would make a comparison, where one day or none is known."""
    heading = "There is nothing yet that this could be compared with."
    if scope.of_runs(frames[LostTime]).head(1).collect().is_empty():
        return Content(heading=heading, empty=_HINT)
    return Content(heading=heading, paragraphs=[_HINT])


def _ordered(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what changed first: worse before better, the largest change first."""
    told = {verdict: place for place, verdict in enumerate(_TOLD)}
    order = pl.col("verdict").replace_strict(told, default=len(told))
    return rows.sort(
        [order, pl.col("measure") != "productive", pl.col("change").abs(), "measure"],
        descending=[False, False, True, False],
        nulls_last=True,
    )


def _heading(rows: pl.DataFrame, sides: Sides) -> str:
    beside = f"{sides.subject} against {sides.against}"
    parts = [
        f"{verdict}: {listed(_change_words.named(found))}"
        for verdict in _TOLD
        if (found := rows.filter(pl.col("verdict") == verdict).to_dicts())
    ]
    if parts:
        return f"{_capital(beside)}: {'; '.join(parts)}."
    if rows["verdict"].eq("not_testable").all():
        return f"{_capital(beside)}: too few days to tell a change from noise."
    if _is_outside(rows).any():
        return f"{_capital(beside)}: no change is large and sure enough to be told."
    return f"{_capital(beside)}: nothing changed by more than its noise."


def _is_outside(rows: pl.DataFrame) -> pl.Series:
    """Tell which changes are outside their noise, and yet not told."""
    return rows["verdict"].is_in(["little", "by_chance"])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _how(rows: pl.DataFrame, sides: Sides) -> str:
    untold = rows.filter(pl.col("verdict") == "not_testable").height
    less = (
        f" {plural(untold, 'number')} could not be tested: too few days, or fewer than"
        f" {FEW_EVENTS} stops."
        if untold
        else ""
    )
    slow = (
        " Slow GPUs are found over whole runs, and not compared between days."
        if sides.now.since
        else ""
    )
    beside = (
        f" Outside its noise, and not told, is a step that changed by less than"
        f" {percent(LEAST_STEP_CHANGE)}, and what one of so many tests may give by"
        f" chance."
        if _is_outside(rows).any()
        else ""
    )
    return (
        "Told is only what is larger than its noise: shares by the spread of days,"
        f" steps by that of blocks of ten, interruptions by an exact test, with at most"
        f" {percent(MOST_Q)} of false findings among them.{beside}{less}{slow}"
    )


def _visible(rows: pl.DataFrame) -> list[str]:
    """Return the smallest change of useful work that would have been seen."""
    useful = rows.filter((pl.col("measure") == "productive") & (pl.col("noise") > 0))
    if useful.is_empty():
        return []
    points = _change_words.points(useful["noise"][0], sign=False)
    return [f"A change of useful work by less than {points} would not show."]


def _listing(rows: pl.DataFrame, scope: Scope) -> Listing:
    more = rows.height - MOST_ROWS
    return Listing(
        title="Before and now",
        columns=_COLUMNS,
        rows=[_row(row) for row in rows.head(MOST_ROWS).to_dicts()],
        more=plural(more, "more number") if more > 0 else "",
        sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
    )


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    words = _change_words.of(row)
    verdict = _change_words.VERDICTS
    if row["measure"] == "slow" and row["verdict"] == "same":
        verdict = {"same": "slow in both"}
    return (
        name(_change_words.label(row), 80),
        words.before,
        words.now,
        words.change,
        words.noise,
        verdict.get(row["verdict"], row["verdict"]),
    )


SECTION: Final = Section("what_changed", "What changed", INPUTS, build)
