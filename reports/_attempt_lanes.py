"""Attempts over time, and what stopped them."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import period
from reports._runs import MOST_ROWS
from reports._section import About, Chart
from reports._stop_colours import colours_of
from reports._texts import named, said_by
from reports._words import listed, plural
from reports.theme import COLOURS

_SQL: Final = """\
SELECT run_id, attempt, a.start_ns, a.end_ns, i.stop,
       coalesce(i.decided_ns, i.last_step_end_ns, a.end_ns) AS stopped_ns,
       i.category, i.cause, i.planned
FROM attempts a LEFT JOIN interruptions i USING (run_id, attempt)
${where}ORDER BY run_id, attempt, i.stop"""

_ABOUT: Final = About(
    definition="A bar is an attempt from start to end, a diamond an unplanned"
    " interruption in the colour of whose it is: at the end of the attempt, or at the"
    " last step before it where no job ended.",
    source="job list where there is one, else steps or traces",
    blind_spots="An attempt that no job list knows ends with its last step or trace,"
    " so that a hang before its end is not seen.",
)

#: Lengths of a run within which others share its axis: beyond, lanes are hairlines.
_NEAR: Final = 3

_TIPS: Final = (("run", "run"), ("what", "what"), ("why", "cause"), ("when", "when"))


def chart(attempts: pl.DataFrame, stops: pl.DataFrame) -> list[Chart]:
    """Return attempts over time, a lane for each run.

    Args:
        attempts: Rows of Attempts.
        stops: Rows of Interruptions.
    """
    from reports.charts import times

    runs = _near(attempts)
    if not runs:
        return []
    numbers = _numbers(attempts, stops, runs)
    spans, marks = _spans(numbers), _marks(numbers)
    parts = {"attempt": COLOURS["idle"], **colours_of(marks["part"])}
    return [
        Chart(
            name="interruptions-lanes",
            title="Attempts of each run over time (UTC), and what stopped them",
            summary=_summary(spans, marks),
            spec=times.lanes(spans, marks, parts, _TIPS),
            numbers=numbers,
            sql=_sql.filled(_SQL, where=_sql.where(_sql.of_runs(runs))),
            about=_ABOUT,
            sample=_sample(runs, attempts),
            legend=parts,
        )
    ]


def _summary(spans: pl.DataFrame, marks: pl.DataFrame) -> str:
    attempts, lanes = plural(spans.height, "attempt"), spans["key"].n_unique()
    causes = listed(marks["what"].unique(maintain_order=True).to_list())
    told = f"{attempts} in {plural(lanes, 'lane')}"
    stopped = plural(marks.height, "unplanned stop")
    return f"{told}; {stopped}{': ' + causes if causes else ''}."


def _near(attempts: pl.DataFrame) -> list[str]:
    """Return the run with most attempts, and those near enough to share its axis."""
    spans = (
        attempts.group_by("run_id")
        .agg(pl.col("start_ns").min(), pl.col("end_ns").max(), seen=pl.len())
        .sort(["seen", "run_id"], descending=[True, False])
    )
    if spans.is_empty():
        return []
    _, start, end, _ = spans.row(0)
    room = _NEAR * max(end - start, 1)
    near = (pl.col("start_ns") <= end + room) & (pl.col("end_ns") >= start - room)
    return spans.filter(near).head(MOST_ROWS)["run_id"].sort().to_list()


def _sample(runs: list[str], attempts: pl.DataFrame) -> str:
    left = attempts["run_id"].n_unique() - len(runs)
    more = (
        f"; {plural(left, 'run')} too far away or with fewer attempts" if left else ""
    )
    return f"{plural(len(runs), 'run')} around the one with the most attempts{more}"


def _numbers(
    attempts: pl.DataFrame, stops: pl.DataFrame, runs: list[str]
) -> pl.DataFrame:
    on = ["run_id", "attempt"]
    causes = stops.select(
        *on,
        "stop",
        "category",
        "cause",
        "planned",
        _at=pl.coalesce("decided_ns", "last_step_end_ns"),
    )
    return (
        attempts.filter(pl.col("run_id").is_in(runs))
        .join(causes, on=on, how="left")
        .with_columns(stopped_ns=pl.coalesce("_at", "end_ns"))
        .select(
            *[*on, "start_ns", "end_ns", "stop", "stopped_ns"],
            *["category", "cause", "planned"],
        )
        .sort(*on, "stop", nulls_last=True)
    )


def _spans(numbers: pl.DataFrame) -> pl.DataFrame:
    each = numbers.unique(["run_id", "attempt"], keep="first", maintain_order=True)
    return each.select(
        key="run_id",
        label=named("run_id", 30),
        run=named("run_id"),
        part=pl.lit("attempt"),
        from_ms=pl.col("start_ns") / 1e6,
        to_ms=pl.col("end_ns") / 1e6,
        what=phrase("attempt {}", "attempt"),
        why=pl.lit(""),
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
        part="category",
        at_ms=pl.col("stopped_ns") / 1e6,
        what=pl.col("category").str.replace_all("_", " ", literal=True),
        why=named("cause"),
        when=said_by("stopped_ns", lambda end: period(end, end)),
    )
