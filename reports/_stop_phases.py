"""Where the time of each stop goes."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import duration
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._stop_colours import PHASE_COLOURS
from reports._texts import named, said_by
from reports._words import plural

_SQL: Final = """\
SELECT run_id, attempt, stop, $columns
FROM loss_phases
${where}GROUP BY ALL
HAVING count(duration_ns) FILTER (WHERE phase IN ('hang', 'start')) = 2
ORDER BY sum(duration_ns) DESC, run_id, attempt, stop
LIMIT $most"""

_COLUMN: Final = (
    "coalesce(sum(duration_ns) FILTER (WHERE phase = '{0}'), 0) / 6e10 AS {0}_min"
)

_ABOUT: Final = About(
    definition="End of the last completed step, first sign in a log, end of the"
    " attempt, resubmission, start of the next attempt, its first new step. Where no"
    " sign is known, all until the end is hang; where no resubmission is known,"
    " waiting for nodes begins at the end of the attempt.",
    source="job list, failure logs and step timings",
    blind_spots="Stops whose last step or first new step is not known are left out.",
)

#: From the last step before a stop to the first after it, in order.
_PHASES: Final = {
    "hang": ("last step to first sign", PHASE_COLOURS["hang"]),
    "detect": ("first sign to end of attempt", PHASE_COLOURS["detect"]),
    "decide": ("end to requeue", PHASE_COLOURS["decide"]),
    "requeue": ("waiting for nodes", PHASE_COLOURS["requeue"]),
    "start": ("start to first new step", PHASE_COLOURS["start"]),
}

_TIPS: Final = (("label", "run and attempt"), ("part", "phase"), ("text", "took"))


def chart(rows: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return where the time of each stop went, the longest first.

    Args:
        rows: Rows of LossPhases.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _numbers(rows)
    if numbers.is_empty():
        return []
    colours = dict(_PHASES.values())
    stops = rows.select("run_id", "attempt", "stop").drop_nulls().unique()
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
            sql=_query(scope),
            about=_ABOUT,
            sample=f"the longest of {plural(stops.height, 'interruption')}",
            legend=colours,
        )
    ]


def _query(scope: Scope) -> str:
    phases = ", ".join(map(_sql.literal, _PHASES))
    return _sql.filled(
        _SQL,
        columns=",\n       ".join(map(_COLUMN.format, _PHASES)),
        where=_sql.where("stop IS NOT NULL", f"phase IN ({phases})", scope.sql()),
        most=str(MOST_ROWS),
    )


def _numbers(rows: pl.DataFrame) -> pl.DataFrame:
    stop = ["run_id", "attempt", "stop"]
    took, phase = pl.col("duration_ns"), pl.col("phase")
    is_timed = phase.is_in(list(_PHASES)) & pl.col("stop").is_not_null()
    of_phases = {
        f"{name}_min": took.filter(phase == name).sum() / 6e10 for name in _PHASES
    }
    ends = took.filter(phase.is_in(["hang", "start"])).count()
    summed = (
        rows.filter(is_timed)
        .group_by(stop)
        .agg(**of_phases, _ends=ends, _all=took.sum())
    )
    known = summed.filter(pl.col("_ends") == len(("hang", "start")))
    longest = known.sort("_all", *stop, descending=[True, False, False, False])
    return longest.head(MOST_ROWS).drop("_ends", "_all")


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    parts = {f"{name}_min": label for name, (label, _) in _PHASES.items()}
    rows = numbers.with_row_index("key").with_columns(
        label=phrase("{} · {}", named("run_id", 30), "attempt")
    )
    return rows.unpivot(
        list(parts), index=["key", "label"], variable_name="field"
    ).with_columns(
        part=pl.col("field").replace_strict(parts),
        text=said_by("value", lambda minutes: duration(minutes * 6e10)),
    )
