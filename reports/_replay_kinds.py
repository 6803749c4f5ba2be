"""What each kind of operation adds to a step."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from reports import _sql
from reports._numbers import duration
from reports._replay_heat import of_trace
from reports._section import About, Chart
from reports._texts import named, said_by
from reports._words import name, plural

#: Bars that are read at once.
_MOST_BARS: Final = 12

_ABOUT: Final = About(
    definition="Length of a step with all operations ideal but those of the kind, less"
    " the ideal length. What kinds add together is not their sum.",
    source="S_t of arXiv 2505.05713, equation (2), as time",
    blind_spots="Kinds that the trace does not record add nothing here.",
)

_SQL: Final = """\
SELECT cells.kind, (cells.simulated_ns - replays.ideal_ns) / 1e6 AS added_ms,
       cells.slowdown_ratio
FROM replay_cells AS cells JOIN replays USING (run_id, attempt, trace_id)
WHERE cells.scope = 'kind' AND run_id = $run AND attempt = $attempt
  AND trace_id = $trace AND cells.simulated_ns > replays.ideal_ns
ORDER BY cells.simulated_ns DESC, cells.kind
LIMIT $most"""

_TIPS: Final = (("label", "kind"), ("text", "adds"), ("ratio", "slowdown"))


def chart(frames: Frames, trace: Mapping[str, Any]) -> list[Chart]:
    """Return what kinds add to a step of a trace.

    Args:
        frames: Holds ReplayCells.
        trace: Row of Replays.
    """
    from reports.charts import bars

    added = _added(frames, trace)
    if added.is_empty():
        return []
    first = added.row(0, named=True)
    return [
        Chart(
            name="replays-kinds",
            title="What each kind of operation adds to a step [ms]",
            summary=f"{plural(added.height, 'bar')}; {name(first['kind'])} adds most,"
            f" {duration(first['added_ms'] * 1e6)}.",
            spec=bars.ranking(_drawn(added), "added to a step [ms]", _TIPS),
            numbers=added,
            sql=_sql.filled(
                _SQL,
                run=_sql.literal(trace["run_id"]),
                attempt=str(trace["attempt"]),
                trace=_sql.literal(trace["trace_id"]),
                most=str(_MOST_BARS),
            ),
            about=_ABOUT,
            sample=f"mean of {plural(trace['steps_replayed'], 'step')} of trace"
            f" {name(trace['trace_id'])}; kinds that add nothing are not drawn",
        )
    ]


def _added(frames: Frames, trace: Mapping[str, Any]) -> pl.DataFrame:
    kinds = of_trace(frames, trace, "kind")
    added = pl.col("simulated_ns") - trace["ideal_ns"]
    return (
        kinds.filter(added > 0)
        .sort("simulated_ns", "kind", descending=[True, False])
        .head(_MOST_BARS)
        .select("kind", (added / 1e6).alias("added_ms"), "slowdown_ratio")
    )


def _drawn(added: pl.DataFrame) -> pl.DataFrame:
    is_pass = pl.col("kind").str.ends_with("-compute")
    is_work = is_pass | pl.col("kind").is_in(("optimizer", "gc"))
    return added.select(
        label=named("kind"),
        value="added_ms",
        meaning=pl.when(is_work)
        .then(pl.lit("productive"))
        .otherwise(pl.lit("communication")),
        text=said_by("added_ms", lambda ms: duration(ms * 1e6)),
        ratio=said_by("slowdown_ratio", lambda ratio: f"{ratio:.3f}"),
    )
