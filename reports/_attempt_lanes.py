"""Attempts over time, and what stopped them."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import period
from reports._runs import MOST_ROWS
from reports._section import About, Chart, Scope
from reports._texts import named, said_by
from reports._words import listed, plural
from reports.theme import COLOURS

_SQL: Final = """\
WITH shown AS (
  SELECT run_id FROM attempts
  ${where}GROUP BY run_id ORDER BY count(*) DESC, run_id LIMIT $most
)
SELECT run_id, attempt, a.start_ns, a.end_ns, i.category, i.planned
FROM attempts a JOIN shown USING (run_id)
LEFT JOIN interruptions i USING (run_id, attempt)
ORDER BY run_id, attempt"""

_ABOUT: Final = About(
    definition="A bar is an attempt from start to end, a diamond an unplanned"
    " interruption at its end.",
    source="job list where there is one, else steps or traces",
    blind_spots="An attempt that no job list knows ends with its last step or trace,"
    " so that a hang before its end is not seen.",
)

_PARTS: Final = {"attempt": COLOURS["idle"], "unplanned stop": COLOURS["broken"]}

_TIPS: Final = (("run", "run"), ("what", "what"), ("when", "when"))


def chart(attempts: pl.DataFrame, stops: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return attempts over time, a lane for each run.

    Args:
        attempts: Rows of Attempts.
        stops: Rows of Interruptions.
        scope: Runs of the page.
    """
    from reports.charts import times

    numbers = _numbers(attempts, stops)
    if numbers.is_empty():
        return []
    spans, marks = _spans(numbers), _marks(numbers)
    runs = plural(spans["key"].n_unique(), "run")
    return [
        Chart(
            name="interruptions-lanes",
            title="Attempts of each run over time (UTC), and what stopped them",
            summary=_summary(spans, marks),
            spec=times.lanes(spans, marks, _PARTS, _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql()), most=str(MOST_ROWS)),
            about=_ABOUT,
            sample=f"the {runs} with the most attempts",
            legend=_PARTS,
        )
    ]


def _summary(spans: pl.DataFrame, marks: pl.DataFrame) -> str:
    attempts, lanes = plural(spans.height, "attempt"), spans["key"].n_unique()
    causes = listed(marks["what"].unique(maintain_order=True).to_list())
    told = f"{attempts} in {plural(lanes, 'lane')}"
    stopped = plural(marks.height, "unplanned stop")
    return f"{told}; {stopped}{': ' + causes if causes else ''}."


def _numbers(attempts: pl.DataFrame, stops: pl.DataFrame) -> pl.DataFrame:
    shown = (
        attempts.group_by("run_id")
        .agg(seen=pl.len())
        .sort(["seen", "run_id"], descending=[True, False])
        .head(MOST_ROWS)
        .select("run_id")
    )
    on = ["run_id", "attempt"]
    causes = stops.select(*on, "category", "planned")
    return (
        attempts.join(shown, on="run_id")
        .join(causes, on=on, how="left")
        .select(*on, "start_ns", "end_ns", "category", "planned")
        .sort(on)
    )


def _spans(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.select(
        key="run_id",
        label=named("run_id", 30),
        run=named("run_id"),
        part=pl.lit("attempt"),
        from_ms=pl.col("start_ns") / 1e6,
        to_ms=pl.col("end_ns") / 1e6,
        what=pl.format("attempt {}", "attempt"),
        when=said_by(
            pl.struct("start_ns", "end_ns"),
            lambda row: period(row["start_ns"], row["end_ns"]),
        ),
    )


def _marks(numbers: pl.DataFrame) -> pl.DataFrame:
    return numbers.filter(~pl.col("planned")).select(
        key="run_id",
        label=named("run_id", 30),
        run=named("run_id"),
        part=pl.lit("unplanned stop"),
        at_ms=pl.col("end_ns") / 1e6,
        what=pl.col("category").str.replace_all("_", " ", literal=True),
        when=said_by("end_ns", lambda end: period(end, end)),
    )
