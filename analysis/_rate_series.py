"""What broke or stopped when, in each cluster and run, and when they were observed."""

from typing import Final, NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis._exposure_spans import spans
from analysis._rate_seen import INPUTS, seen
from analysis._rate_things import NOTICE, PLANNED
from analysis._rate_totals import PLACE, WHOLE

#: Levels that a series can be of, and whether nodes tell of them.
_LEVELS: Final = {"incident": True, "interruption": False}

_SERIES: Final = [*PLACE, "level"]

__all__ = ["INPUTS", "Series", "series"]


class Series(NamedTuple):
    """Clusters and runs at both levels, each a series.

    Attributes:
        names: `series`, the columns of PLACE, `level`.
        spans: `series`, `start_ns`, `end_ns`, `own`, `nodes`; where the nodes of some
            span cannot be counted, `nodes` is null in all of the series.
        things: `series`, `category`, `host`, `time_ns`; dated and observed.
    """

    names: pl.DataFrame
    spans: pl.DataFrame
    things: pl.DataFrame


def series(frames: Frames) -> Series:
    """Return what happened when in each cluster and run, and when each was observed.

    Args:
        frames: The tables of INPUTS.
    """
    found = seen(frames)
    observed = _observed(spans(found.attempts, found.nodes, found.runs))
    names = observed.select(_SERIES).unique().sort(_SERIES).with_row_index("series")
    known = pl.when(pl.col("nodes").is_not_null().all().over("series")).then("nodes")
    numbered = _numbered(observed, names).with_columns(nodes=known)
    return Series(
        names,
        numbered.select("series", "start_ns", "end_ns", "own", "nodes"),
        _numbered(_placed(found.things), names).select(
            "series", "category", "host", "time_ns"
        ),
    )


def _observed(found: pl.DataFrame) -> pl.DataFrame:
    levels = pl.DataFrame({"level": list(_LEVELS), "on_nodes": list(_LEVELS.values())})
    whole = found.filter(
        pl.col("scope").is_in(WHOLE) & (pl.col("start_ns") < pl.col("end_ns"))
    )
    return whole.join(levels, on="on_nodes")


def _placed(counted: pl.DataFrame) -> pl.DataFrame:
    """Return what is counted, once for its cluster and once for each of its runs."""
    kept = counted.filter(
        pl.col("level").is_in(list(_LEVELS))
        & ~pl.col("category").is_in([NOTICE, PLANNED])
    ).drop_nulls(["run_id", "time_ns"])
    whole = kept.filter(~pl.col("is_repeated")).with_columns(
        run_id=pl.lit(None, pl.String), scope=pl.lit("cluster"), scope_id="cluster"
    )
    own = kept.with_columns(scope=pl.lit("run"), scope_id="run_id")
    return pl.concat([whole, own])


def _numbered(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    return rows.join(names, on=_SERIES, nulls_equal=True)
