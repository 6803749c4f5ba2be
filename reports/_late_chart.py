"""Who comes last, and how much later than the next-to-last."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import duration, significant
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural
from reports.theme import COLOURS

_SQL: Final = """\
SELECT run_id, attempt, rank, late_ns / 1e9 AS late_s, last_count,
       expected_count, is_late, verdict
FROM late_ranks
${where}ORDER BY late_ns DESC, run_id, attempt, rank
LIMIT $most"""

_ABOUT: Final = About(
    definition="Last arrival minus the one before it, over all collectives that the"
    " rank came last in. Coloured: last more often than chance allows, over all ranks"
    " together, and it costs over 2 % of the time watched; grey: not.",
    source="binomial test, equal ranks each last equally often",
    blind_spots="A rank behind a slow link looks late in its own work.",
)

#: Verdicts in words.
_VERDICTS: Final = {
    "late": "late",
    "within_chance": "not beyond chance",
    "below_share": "beyond chance, but it costs little",
}

_LEGEND: Final = {
    "late beyond chance, and costly": COLOURS["waiting"],
    "not: may itself be held up": COLOURS["idle"],
}

_TIPS: Final = (
    ("label", "who"),
    ("run", "run"),
    ("text", "later"),
    ("last", "last in"),
    ("chance", "by chance"),
    ("verdict", "verdict"),
)


def chart(late: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return how much later than the next-to-last each rank came.

    Args:
        late: Rows of LateRanks.
        scope: Runs of the page.
    """
    from reports.charts import bars

    top = _latest(late)
    if top.is_empty() or not top["late_s"].sum():
        return []
    where = _sql.where(scope.sql())
    return [
        Chart(
            name="waits-late",
            title="How much later than the next-to-last each rank came [s]",
            summary=f"{plural(top.height, 'bar')}; those in the colour of waiting are"
            " late beyond chance, the grey ones are not.",
            spec=bars.ranking(_drawn(top), "later than the next-to-last [s]", _TIPS),
            numbers=top,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"{plural(late.height, 'rank')} in complete collectives; the"
            f" {top.height} latest",
            legend=_LEGEND,
        )
    ]


def _latest(late: pl.DataFrame) -> pl.DataFrame:
    who = ["run_id", "attempt", "rank"]
    ordered = late.sort(["late_ns", *who], descending=[True, False, False, False])
    seconds = pl.col("late_ns") / 1e9
    return ordered.head(MOST_ROWS).select(
        *who,
        seconds.alias("late_s"),
        "last_count",
        "expected_count",
        "is_late",
        "verdict",
    )


def _drawn(top: pl.DataFrame) -> pl.DataFrame:
    several = top.select("run_id", "attempt").n_unique() > 1
    apart = phrase("rank {} · {} {}", "rank", named("run_id", 16), "attempt")
    late = pl.when("is_late")
    return top.select(
        label=apart if several else phrase("rank {}", "rank"),
        value="late_s",
        meaning=late.then(pl.lit("waiting")).otherwise(pl.lit("idle")),
        text=said_by("late_s", lambda seconds: duration(seconds * 1e9)),
        run=named("run_id"),
        last="last_count",
        chance=said_by("expected_count", significant),
        verdict=pl.col("verdict").replace_strict(_VERDICTS),
    )
