"""Slowdown by every worker, as a field of stages by data-parallel replicas."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.replays import ANALYSIS, ReplayCells
from reports import _sql
from reports._section import About, Chart
from reports._texts import said_by
from reports._words import name, plural

#: Most rows and columns: cells that are still seen on a phone.
_MOST_ROWS: Final = 32
_MOST_COLUMNS: Final = 64

#: What the darkest colour stands for, at least: scatter must not look slow.
_LEAST_TOP: Final = ANALYSIS.thresholds["straggles_from"]

#: Title of the colours, with its unit.
_VALUE: Final = "length of a step over the ideal [1]"

_ABOUT: Final = About(
    definition="All operations of a kind alike, those of the worker as they were: the"
    " smaller of the slowdowns with only its stage and only its replica as measured. A"
    " single dark cell is a slow worker, a row a slow stage, cells all over the field"
    " are sequences of unequal length.",
    source="S_w of arXiv 2505.05713, equation (4)",
    blind_spots="A slow stage and a slow replica together darken the cell where they"
    " cross.",
)

_SQL: Final = """\
SELECT pp_rank // $height * $height AS from_stage,
       dp_rank // $width * $width AS from_replica,
       max(slowdown_ratio) AS slowdown_ratio
FROM replay_cells
WHERE scope = 'worker' AND run_id = $run AND attempt = $attempt
  AND trace_id = $trace
GROUP BY ALL
ORDER BY from_stage, from_replica"""


def chart(frames: Frames, trace: Mapping[str, Any]) -> list[Chart]:
    """Return the field of a trace.

    Args:
        frames: Holds ReplayCells.
        trace: Row of Replays.
    """
    from reports.charts import fields

    workers = of_trace(frames, trace, "worker")
    if workers.is_empty():
        return []
    height, width = (
        _size(workers, "pp_rank", _MOST_ROWS),
        _size(workers, "dp_rank", _MOST_COLUMNS),
    )
    cells = _cells(workers, height, width)
    slowest = cells.sort("slowdown_ratio", descending=True).row(0, named=True)
    top = max(_LEAST_TOP, float(slowest["slowdown_ratio"]))
    return [
        Chart(
            name="replays-field",
            title=f"Slowdown by each worker alone, run {name(trace['run_id'])} [1]",
            summary="A field of pipeline stages by data-parallel replicas; the darkest"
            f" cell is stage {_span(slowest['from_stage'], height)}, replica"
            f" {_span(slowest['from_replica'], width)}, at"
            f" {slowest['slowdown_ratio']:.2f}.",
            spec=fields.field(_drawn(cells, height, width), _titles(width), top),
            numbers=cells,
            sql=_query(trace, height, width),
            about=_ABOUT,
            sample=_sample(workers, trace, height, width),
        )
    ]


def of_trace(frames: Frames, trace: Mapping[str, Any], scope: str) -> pl.DataFrame:
    """Return the slowdowns of a trace by one scope."""
    mine = [pl.col(name) == trace[name] for name in ("run_id", "attempt", "trace_id")]
    return frames[ReplayCells].filter(pl.col("scope") == scope, *mine).collect()


def _size(workers: pl.DataFrame, column: str, most: int) -> int:
    return -(-(int(str(workers[column].max())) + 1) // most)


def _cells(workers: pl.DataFrame, height: int, width: int) -> pl.DataFrame:
    return (
        workers.group_by(
            from_stage=pl.col("pp_rank") // height * height,
            from_replica=pl.col("dp_rank") // width * width,
        )
        .agg(pl.col("slowdown_ratio").max())
        .sort("from_stage", "from_replica")
    )


def _titles(width: int) -> tuple[str, str, str]:
    first = f", first of {width}" if width > 1 else ""
    return f"data-parallel replica{first}", "pipeline stage", _VALUE


def _span(first: int, size: int) -> str:
    return str(first) if size == 1 else f"{first}\N{EN DASH}{first + size - 1}"


def _drawn(cells: pl.DataFrame, height: int, width: int) -> pl.DataFrame:
    row = said_by("from_stage", lambda first: _span(first, height))
    column = said_by("from_replica", lambda first: _span(first, width))
    who = pl.concat_str(pl.lit("stage "), row, pl.lit(", replica "), column)
    return cells.select(
        row=row,
        column=pl.col("from_replica").cast(pl.String),
        value="slowdown_ratio",
        text=said_by("slowdown_ratio", lambda ratio: f"{ratio:.2f}"),
        tip=who,
    )


def _query(trace: Mapping[str, Any], height: int, width: int) -> str:
    return _sql.filled(
        _SQL,
        height=str(height),
        width=str(width),
        run=_sql.literal(trace["run_id"]),
        attempt=str(trace["attempt"]),
        trace=_sql.literal(trace["trace_id"]),
    )


def _sample(
    workers: pl.DataFrame, trace: Mapping[str, Any], height: int, width: int
) -> str:
    together = (
        f"; a cell is {plural(height, 'stage')} by {plural(width, 'replica')}, the"
        " slowest of them drawn"
        if height * width > 1
        else ""
    )
    return (
        f"{plural(workers.height, 'worker')},"
        f" {plural(trace['steps_replayed'], 'step')} of trace"
        f" {name(trace['trace_id'])}{together}"
    )
