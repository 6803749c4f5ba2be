"""Attempts over time with what stopped them, and where the time of a stop goes."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, period
from reports._runs import MOST_ROWS
from reports._section import Chart, Scope
from reports._words import listed, name, plural, said
from reports.theme import COLOURS

_LANES_SQL: Final = """\
WITH shown AS (
  SELECT run_id FROM attempts
  ${where}GROUP BY run_id ORDER BY count(*) DESC, run_id LIMIT $most
)
SELECT run_id, attempt, a.start_ns, a.end_ns, i.category, i.planned
FROM attempts a JOIN shown USING (run_id)
LEFT JOIN interruptions i USING (run_id, attempt)
ORDER BY run_id, attempt"""

_PHASES_SQL: Final = """\
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

_PARTS: Final = {"attempt": COLOURS["idle"], "unplanned stop": COLOURS["broken"]}

#: From the last step before a stop to the first after it, in order.
_PHASES: Final = {
    "notice_min": ("last step to end of attempt", "#8e2a1c"),
    "decide_min": ("end to requeue", "#c4715c"),
    "queue_min": ("waiting for nodes", "#e8a93a"),
    "start_min": ("start to first new step", "#9aa4b0"),
}


def lanes(attempts: pl.DataFrame, stops: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return attempts over time, a lane for each run.

    Args:
        attempts: Rows of Attempts.
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    from reports.charts import times

    numbers = _lane_numbers(attempts, stops)
    if numbers.is_empty():
        return []
    drawn = numbers.with_columns(key="run_id", label=_named("run_id"))
    spans = drawn.select(
        "key",
        "label",
        part=pl.lit("attempt"),
        from_ms=pl.col("start_ns") / 1e6,
        to_ms=pl.col("end_ns") / 1e6,
        what=pl.lit("attempt ") + pl.col("attempt").cast(pl.String),
        when=pl.struct("start_ns", "end_ns").map_elements(
            lambda row: period(row["start_ns"], row["end_ns"]), return_dtype=pl.String
        ),
    )
    marks = drawn.filter(~pl.col("planned")).select(
        "key",
        "label",
        part=pl.lit("unplanned stop"),
        at_ms=pl.col("end_ns") / 1e6,
        what=pl.col("category").str.replace_all("_", " ", literal=True),
        when=pl.col("end_ns").map_elements(
            lambda end: period(end, end), return_dtype=pl.String
        ),
    )
    tips = (("label", "run"), ("what", "what"), ("when", "when"))
    runs = spans["label"].n_unique()
    seen = [said(cause) for cause in marks["what"].unique(maintain_order=True)]
    return [
        Chart(
            name="interruptions-lanes",
            title="Attempts of each run over time (UTC), and what stopped them",
            summary=f"{plural(spans.height, 'attempt')} in {plural(runs, 'lane')};"
            f" {plural(marks.height, 'mark')} of unplanned stops"
            f"{': ' + listed(seen) if seen else ''}.",
            spec=times.lanes(spans, marks, _PARTS, tips),
            numbers=numbers,
            sql=_sql.filled(
                _LANES_SQL, where=_sql.where(scope.sql()), most=str(MOST_ROWS)
            ),
            definition="A bar is an attempt from start to end, a diamond an unplanned"
            " interruption at its end.",
            source="job list where there is one, else steps or traces",
            sample=f"the {plural(runs, 'run')} with the most attempts",
            blind_spots="An attempt that no job list knows ends with its last step or"
            " trace, so that a hang before its end is not seen.",
            legend=_PARTS,
        )
    ]


def _lane_numbers(attempts: pl.DataFrame, stops: pl.DataFrame) -> pl.DataFrame:
    shown = (
        attempts.group_by("run_id")
        .agg(seen=pl.len())
        .sort(["seen", "run_id"], descending=[True, False])
        .head(MOST_ROWS)
        .select("run_id")
    )
    return (
        attempts.join(shown, on="run_id")
        .join(
            stops.select("run_id", "attempt", "category", "planned"),
            on=["run_id", "attempt"],
            how="left",
        )
        .select("run_id", "attempt", "start_ns", "end_ns", "category", "planned")
        .sort("run_id", "attempt")
    )


def _named(column: str) -> pl.Expr:
    return pl.col(column).map_elements(
        lambda found: name(found, 30), return_dtype=pl.String
    )


def phases(stops: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return where the time of each stop went, the longest first.

    Args:
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    from reports.charts import bars

    numbers = _phase_numbers(stops)
    if numbers.is_empty():
        return []
    labels = {field: label for field, (label, _) in _PHASES.items()}
    drawn = (
        numbers.with_row_index("key")
        .with_columns(
            label=_named("run_id") + pl.lit(" · ") + pl.col("attempt").cast(pl.String)
        )
        .unpivot(list(_PHASES), index=["key", "label"], variable_name="field")
        .with_columns(
            part=pl.col("field").replace_strict(labels),
            text=pl.col("value").map_elements(
                lambda minutes: duration(minutes * 6e10), return_dtype=pl.String
            ),
        )
    )
    colours = dict(_PHASES.values())
    tips = (("label", "run and attempt"), ("part", "phase"), ("text", "took"))
    total = stops.height
    return [
        Chart(
            name="interruptions-phases",
            title="From the last step before a stop to the first after it [min]",
            summary=f"{plural(numbers.height, 'bar')}, each cut into"
            f" {', '.join(colours)}.",
            spec=bars.stack(drawn, "time without a step [min]", colours, tips),
            numbers=numbers,
            sql=_sql.filled(
                _PHASES_SQL,
                where=_sql.where(_KNOWN, scope.sql()),
                most=str(MOST_ROWS),
            ),
            definition="End of the last completed step, end of the attempt, requeue,"
            " start of the next attempt, its first new step. Where no requeue is known,"
            " waiting for nodes begins at the end of the attempt.",
            source="job list and step timings",
            sample=f"the {numbers.height} longest of {plural(total, 'interruption')}",
            blind_spots="Time until a hang is noticed and time until the attempt ends"
            " are one phase where no first sign is known.",
            legend=colours,
        )
    ]


_KNOWN: Final = (
    "last_step_end_ns IS NOT NULL AND decided_ns IS NOT NULL"
    " AND started_ns IS NOT NULL AND first_step_ns IS NOT NULL"
)


def _phase_numbers(stops: pl.DataFrame) -> pl.DataFrame:
    last, decided, started, first = (
        pl.col("last_step_end_ns"),
        pl.col("decided_ns"),
        pl.col("started_ns"),
        pl.col("first_step_ns"),
    )
    requeued = pl.coalesce("requeued_ns", "decided_ns")
    known = stops.drop_nulls(
        ["last_step_end_ns", "decided_ns", "started_ns", "first_step_ns"]
    )
    return (
        known.sort([first - last, "run_id", "attempt"], descending=[True, False, False])
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
