"""Where the time of a stop goes."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import duration
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import plural
from reports.theme import COLOURS

_SQL: Final = """\
SELECT run_id, attempt,
       greatest(0, decided_ns - last_step_end_ns) / 6e10 AS notice_min,
       greatest(0, coalesce(requeued_ns, decided_ns) - decided_ns) / 6e10
         AS decide_min,
       greatest(0, started_ns - coalesce(requeued_ns, decided_ns)) / 6e10
         AS queue_min,
       greatest(0, first_step_ns - started_ns) / 6e10 AS start_min
FROM interruptions
${where}ORDER BY first_step_ns - last_step_end_ns DESC, run_id, attempt
LIMIT $most"""

_KNOWN: Final = (
    "last_step_end_ns IS NOT NULL",
    "decided_ns IS NOT NULL",
    "started_ns IS NOT NULL",
    "first_step_ns IS NOT NULL",
)

_ABOUT: Final = About(
    definition="End of the last completed step, end of the attempt, requeue, start of"
    " the next attempt, its first new step. Where no requeue is known, waiting for"
    " nodes begins at the end of the attempt.",
    source="job list and step timings",
    blind_spots="Time until a hang is noticed and time until the attempt ends are one"
    " phase here.",
)

#: From the last step before a stop to the first after it, in order. End to requeue is
#: part of what is broken, in a lighter shade.
_PHASES: Final = {
    "notice_min": ("last step to end of attempt", COLOURS["broken"]),
    "decide_min": ("end to requeue", "#c4715c"),
    "queue_min": ("waiting for nodes", COLOURS["waiting"]),
    "start_min": ("start to first new step", COLOURS["idle"]),
}

_TIPS: Final = (("label", "run and attempt"), ("part", "phase"), ("text", "took"))


def chart(stops: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return where the time of each stop went, the longest first.

    Args:
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _numbers(stops)
    if numbers.is_empty():
        return []
    colours = dict(_PHASES.values())
    where = _sql.where(*_KNOWN, scope.sql())
    return [
        Chart(
            name="interruptions-phases",
            title="From the last step before a stop to the first after it [min]",
            summary=f"{plural(numbers.height, 'bar')}, each cut into"
            f" {', '.join(colours)}.",
            spec=bars.stack(
                _drawn(numbers), "time without a step [min]", colours, _TIPS
            ),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=where, most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"the longest of {plural(stops.height, 'interruption')}",
            legend=colours,
        )
    ]


def _numbers(stops: pl.DataFrame) -> pl.DataFrame:
    last, decided = pl.col("last_step_end_ns"), pl.col("decided_ns")
    started, first = pl.col("started_ns"), pl.col("first_step_ns")
    requeued = pl.coalesce("requeued_ns", "decided_ns")
    known = stops.drop_nulls(
        ["last_step_end_ns", "decided_ns", "started_ns", "first_step_ns"]
    )
    longest = [first - last, pl.col("run_id"), pl.col("attempt")]
    return (
        known.sort(longest, descending=[True, False, False])
        .head(MOST_ROWS)
        .select(
            "run_id",
            "attempt",
            notice_min=(decided - last).clip(0) / 6e10,
            decide_min=(requeued - decided).clip(0) / 6e10,
            queue_min=(started - requeued).clip(0) / 6e10,
            start_min=(first - started).clip(0) / 6e10,
        )
    )


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    parts = {field: label for field, (label, _) in _PHASES.items()}
    rows = numbers.with_row_index("key").with_columns(
        label=phrase("{} · {}", named("run_id", 30), "attempt")
    )
    return rows.unpivot(
        list(_PHASES), index=["key", "label"], variable_name="field"
    ).with_columns(
        part=pl.col("field").replace_strict(parts),
        text=said_by("value", lambda minutes: duration(minutes * 6e10)),
    )
