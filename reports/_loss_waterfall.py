"""What unplanned interruptions cost: a bar for each phase, up to the sum."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reports import _ledger, _ledger_shown, _loss_shown, _sql
from reports._ledger import Unit
from reports._ledger_shown import Shown
from reports._numbers import THIN, duration, grouped
from reports._partly import partly
from reports._section import About, Chart, Column, Listing, Scope
from reports._stop_colours import PHASE_COLOURS
from reports._words import plural
from reports.dollars import price_sql

_SQL: Final = """\
SELECT phase, count(*) AS stops, count(duration_ns) AS known,
       avg(duration_ns) / 1e9 AS mean_s, median(duration_ns) / 1e9 AS median_s,
       count(gpu_ns) AS costed,
       sum(gpu_ns) / 3.6e12 AS gpu_hours,
       sum(gpu_ns::DOUBLE * $price) / 3.6e12 AS usd
FROM loss_phases
${where}GROUP BY phase
ORDER BY list_position([$order], phase)"""

_ABOUT: Final = About(
    definition="GPU time that the run paid for in each phase of its unplanned"
    " interruptions: last completed step to first sign (hang), to the end of the"
    " attempt (detect), to resubmission (decide), to the next start (requeue), to the"
    " first new step (start), and the steps done again (recompute).",
    source="the ledger's restart and recompute, cut where job list and logs tell;"
    " phases as in SemiAnalysis 2026 and arXiv 2410.21680",
    blind_spots="Without a sign in any log all time until the end counts as hang. Time"
    " in a queue costs nothing where only allocated GPUs are paid for. Without steps"
    " nobody knows how long a run hung: such phases are not in the sum.",
)

_COLUMNS: Final = (
    Column("Phase"),
    Column("What it is"),
    Column("Mean", "Over the interruptions that it is known of.", is_number=True),
    Column("Median", "Half of them took longer.", is_number=True),
    Column("Known of", is_number=True),
    Column("GPU time", is_number=True),
    Column("USD", is_number=True),
)


def chart(rows: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the waterfall; nothing where no interruption cost anything.

    Args:
        rows: Rows of LossPhases.
        scope: Runs and prices of the page.
    """
    from reports.charts import bars

    stops = _loss_shown.of_stops(rows)
    found = _loss_shown.accounts(stops, scope)
    if not any(one.gpu_ns for one in found):
        return []
    unit = _ledger.unit_for(_ledger.paid(found).gpu_ns)
    shown = _ledger_shown.shown(found, unit)
    lost = _ledger_shown.together("lost", shown)
    return [
        Chart(
            name="interruptions-cost",
            title=f"What unplanned interruptions cost by phase, in {unit.name} and"
            " dollars",
            summary=f"A waterfall: {plural(len(found), 'phase')} that add up to"
            f" {lost.said_usd()}.",
            spec=bars.waterfall(_steps(shown, lost, unit), unit.title),
            numbers=_loss_shown.numbers(stops, found),
            sql=_query(scope),
            about=_ABOUT,
            sample=_sample(stops),
        )
    ]


def _sample(stops: pl.DataFrame) -> str:
    """Return how many stops there were, and of how many something is not known."""
    stop = ["run_id", "attempt", "stop"]
    count = stops.select(stop).n_unique()
    blank = stops.filter(pl.col("gpu_ns").is_null()).select(stop).n_unique()
    partial = f"; of {blank} not all that they cost is known" if blank else ""
    return f"{plural(count, 'unplanned interruption')}, every GPU paid for{partial}"


def listings(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return mean and median of each phase, with what it cost.

    Args:
        rows: Rows of LossPhases.
        scope: Runs and prices of the page.
    """
    stops = _loss_shown.of_stops(rows)
    found = _loss_shown.accounts(stops, scope)
    is_known = (pl.col("gpu_ns") > 0) | pl.col("duration_ns").is_not_null()
    if stops.filter(is_known).is_empty():
        return []
    unit = _ledger.unit_for(_ledger.paid(found).gpu_ns)
    shown = _ledger_shown.shown(found, unit)
    told = _loss_shown.numbers(stops, found).to_dicts()
    total = _ledger_shown.together("all", shown)
    blank = _loss_shown.unknown(stops)
    return [
        Listing(
            title="Phases of unplanned interruptions",
            columns=_COLUMNS,
            rows=[
                (*_cells(row), *_amounts(one, unit, is_whole=one.category not in blank))
                for row, one in zip(told, shown, strict=True)
            ],
            total=("all", "", "", "", "", *_amounts(total, unit, is_whole=not blank)),
            sql=_query(scope),
        )
    ]


def _query(scope: Scope) -> str:
    conditions = ("NOT planned", "stop IS NOT NULL", "account IS NOT NULL")
    return _sql.filled(
        _SQL,
        price=price_sql(scope.prices),
        where=_sql.where(*conditions, scope.sql()),
        order=", ".join(map(_sql.literal, _loss_shown.WORDS)),
    )


def _steps(shown: Sequence[Shown], lost: Shown, unit: Unit) -> pl.DataFrame:
    done, steps = 0, []
    for one in filter(lambda each: each.gpu_ns > 0, shown):
        steps.append(_bar(one, PHASE_COLOURS[one.category], done, unit))
        done += one.gpu_ns
    return pl.DataFrame([*steps, _bar(lost, "paid", 0, unit)])


def _bar(one: Shown, meaning: str, start_ns: int, unit: Unit) -> dict[str, str | float]:
    money = f"{grouped(one.usd)}{THIN}USD"
    return {
        "label": one.category,
        "meaning": meaning,
        "start": float(unit.of(start_ns)),
        "end": float(unit.of(start_ns + one.gpu_ns)),
        "text": f"{grouped(one.time)}{THIN}{unit.letter} · {money}",
        "brief": money,
    }


def _cells(row: dict[str, object]) -> tuple[str, ...]:
    phase = str(row["phase"])
    return (
        phase,
        _loss_shown.WORDS[phase],
        _took(row["mean_s"]),
        _took(row["median_s"]),
        f"{row['known']} of {row['stops']}",
    )


def _amounts(one: Shown, unit: Unit, *, is_whole: bool) -> tuple[str, str]:
    if not one.gpu_ns:
        none = "0" if is_whole else "not known"
        return none, none
    amounts = f"{grouped(one.time)}{THIN}{unit.letter}", grouped(one.usd)
    time, usd = (partly(said, has_known=True, is_whole=is_whole) for said in amounts)
    return time, usd


def _took(seconds: object) -> str:
    return duration(seconds * 1e9) if isinstance(seconds, float) else "not known"
