"""What the clocks of all runs were seen to show, a batch of groups at a time."""

from collections.abc import Callable
from typing import Final, NamedTuple

import polars as pl

from analysis._clock_ends import common_ends
from analysis._clock_hosts import split_hosts, trace_deviations
from analysis._clock_windows import sightings
from analysis._collective_arrivals import with_arrivals
from analysis._collective_batches import in_batches
from analysis._collective_matching import INSTANCE, match
from analysis._trace_attempts import place_traces
from ingest.tables import Collectives


class Seen(NamedTuple):
    """What the clocks of all runs showed.

    Attributes:
        times: When each clock was read: rows of `sightings`.
        ends: Rows of `common_ends` with `moment` and `group`, which number the
            collectives and their groups.
        split: Hosts whose traces disagree: rows of `split_hosts`.
    """

    times: pl.DataFrame
    ends: pl.DataFrame
    split: pl.DataFrame


def seen_by_clocks(
    collectives: pl.LazyFrame,
    attempts: pl.LazyFrame,
    name: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> Seen:
    """Return what clocks showed, and the hosts that have more than one.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts.
        name: What gives each row its `clock`.
    """
    on_gpu = Collectives.time_basis.col == "gpu"
    timed = collectives.filter(on_gpu, Collectives.start_ns.col.is_not_null())
    placed = name(place_traces(timed.select(_TOLD), attempts, "start_ns"))
    seen, groups = pl.collect_all(
        [sightings(placed), _spanning(placed)], engine="streaming"
    )
    shared = timed.join(groups.lazy(), on=list(_GROUP), how="semi")
    ends, deviations = [], []
    for number, batch in enumerate(in_batches(shared)):
        rows = name(with_arrivals(match(batch, attempts)))
        found, apart = pl.collect_all([common_ends(rows), trace_deviations(rows)])
        ends.append(found.with_columns(batch=pl.lit(number)))
        deviations.append(apart)
    return Seen(seen, _numbered(pl.concat(ends)), split_hosts(pl.concat(deviations)))


_GROUP: Final = ("run_id", "group_id")

#: What tells whose clock was read, and when.
_TOLD: Final = (
    *("run_id", "attempt", "trace_id", "rank", "host", "group_id"),
    *("start_ns", "end_ns"),
)


def _spanning(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the groups that meet on more than one clock; of one host, on traces."""
    groups = rows.group_by(_GROUP).agg(
        clocks=pl.col("clock").n_unique(), traces=pl.col("trace_id").n_unique()
    )
    is_one_host = (pl.col("clocks").max() == 1).over("run_id")
    spans = (pl.col("clocks") > 1) | (is_one_host & (pl.col("traces") > 1))
    return groups.filter(spans).select(_GROUP)


def _numbered(ends: pl.DataFrame) -> pl.DataFrame:
    """Number collectives and groups, in an order that does not depend on the rows'."""
    group = pl.struct("run_id", "attempt", "group_id").rank("dense")
    moment = pl.struct("batch", *INSTANCE).rank("dense")
    numbered = ends.with_columns(group=group, moment=moment)
    return numbered.drop("batch", *INSTANCE)
