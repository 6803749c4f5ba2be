"""What the clocks of all runs were seen to show, a batch of groups at a time."""

from collections.abc import Callable

import polars as pl

from analysis._clock_ends import common_ends
from analysis._clock_windows import sightings
from analysis._collective_arrivals import with_arrivals
from analysis._collective_batches import in_batches
from analysis._collective_matching import INSTANCE, match
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
    seen, ends = [], []
    for number, batch in enumerate(in_batches(timed)):
        rows = name(with_arrivals(match(batch, attempts)))
        sighted, shared = pl.collect_all([sightings(rows), common_ends(rows)])
        seen.append(sighted)
        ends.append(shared.with_columns(batch=pl.lit(number)))
    return pl.concat(seen), _numbered(pl.concat(ends))


def _numbered(ends: pl.DataFrame) -> pl.DataFrame:
    """Number collectives and groups, in an order that does not depend on the rows'."""
    group = pl.struct("run_id", "attempt", "group_id").rank("dense")
    moment = pl.struct("batch", *INSTANCE).rank("dense")
    numbered = ends.with_columns(group=group, moment=moment)
    return numbered.drop("batch", *INSTANCE)
