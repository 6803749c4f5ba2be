"""What the clocks of all runs were seen to show, a batch of groups at a time."""

from collections.abc import Callable
from typing import Final

import polars as pl

from analysis._clock_ends import common_ends
from analysis._clock_windows import sightings
from analysis._collective_arrivals import with_arrivals
from analysis._collective_batches import in_batches
from analysis._collective_matching import INSTANCE, match
from analysis._trace_attempts import place_traces
from ingest.tables import Collectives


def seen_by_clocks(
    collectives: pl.LazyFrame,
    attempts: pl.LazyFrame,
    name: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return when each clock was read, and the moments that several saw.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts.
        name: What gives each row its `clock`.

    Returns:
        Rows of `sightings`, and rows of `common_ends` with `moment` and `group`, which
        number the collectives and their groups.
    """
    on_gpu = Collectives.time_basis.col == "gpu"
    timed = collectives.filter(on_gpu, Collectives.start_ns.col.is_not_null())
    placed = name(place_traces(timed.select(_TOLD), attempts, "start_ns"))
    seen, groups = pl.collect_all(
        [sightings(placed), _spanning(placed)], engine="streaming"
    )
    shared = timed.join(groups.lazy(), on=list(_GROUP), how="semi")
    ends = [
        common_ends(name(with_arrivals(match(batch, attempts))))
        .collect()
        .with_columns(batch=pl.lit(number))
        for number, batch in enumerate(in_batches(shared))
    ]
    return seen, _numbered(pl.concat(ends))


_GROUP: Final = ("run_id", "group_id")

#: What tells whose clock was read, and when.
_TOLD: Final = (
    *("run_id", "attempt", "trace_id", "rank", "host", "group_id"),
    *("start_ns", "end_ns"),
)


def _spanning(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the groups that meet on more than one clock."""
    clocks = rows.group_by(_GROUP).agg(clocks=pl.col("clock").n_unique())
    return clocks.filter(pl.col("clocks") > 1).select(_GROUP)


def _numbered(ends: pl.DataFrame) -> pl.DataFrame:
    """Number collectives and groups, in an order that does not depend on the rows'."""
    group = pl.struct("run_id", "attempt", "group_id").rank("dense")
    moment = pl.struct("batch", *INSTANCE).rank("dense")
    numbered = ends.with_columns(group=group, moment=moment)
    return numbered.drop("batch", *INSTANCE)
