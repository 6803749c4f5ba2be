"""Steps of ranks of which only collectives are known: the time between them."""

from typing import Final

import polars as pl

from analysis._trace_attempts import place_traces
from ingest.tables import Collectives

_RANK: Final = ["run_id", "attempt", "rank"]
_SERIES: Final = [*_RANK, "group_id", "kind"]


def arrived_steps(collectives: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return the steps of ranks whose collectives are known, and nothing else.

    All leave a collective together, and who comes to the next one last has worked the
    longest in between. So own work is the time that a rank spends in no collective, by
    its own clock. Where collectives know no step, one of the widest group ends it.

    Args:
        collectives: Rows of Collectives.
        attempts: Rows of Attempts, for traces that do not tell theirs.

    Returns:
        Columns of a step of a rank, as `rank_steps` takes them. The first step of a
        rank is left out: nobody saw it begin.
    """
    timed = (Collectives.time_basis.col == "gpu") & Collectives.rank.col.is_not_null()
    known = (
        Collectives.start_ns.col.is_not_null() & Collectives.end_ns.col.is_not_null()
    )
    rows = place_traces(collectives.filter(timed & known), attempts, "start_ns").select(
        *_SERIES, "is_p2p", "group_size", "step", "sequence", "start_ns", "end_ns"
    )
    ordered = _numbered(rows.collect(engine="streaming").sort(*_RANK, "start_ns"))
    before = pl.col("end_ns").cum_max().shift(1).over(_RANK)
    between = ordered.with_columns(before=before).with_columns(
        own_ns=(pl.col("start_ns") - pl.col("before")).clip(0)
    )
    steps = between.filter(pl.col("number").is_not_null()).group_by(*_RANK, "number")
    told = steps.agg(
        start_ns=pl.col("before").min(),
        end_ns=pl.col("end_ns").max(),
        own_ns=pl.col("own_ns").sum(),
        is_whole=pl.col("before").is_not_null().all(),
    )
    whole = told.filter(pl.col("is_whole") & (pl.col("end_ns") > pl.col("start_ns")))
    duration = pl.col("end_ns") - pl.col("start_ns")
    return whole.select(
        *_RANK,
        "start_ns",
        step="number",
        duration_ns=duration,
        wait_ns=(duration - pl.col("own_ns")).clip(0),
    )


def _numbered(ordered: pl.DataFrame) -> pl.DataFrame:
    """Give each row its step, or the number of what ends it in the widest group."""
    joint = ordered.filter(~pl.col("is_p2p")).group_by("run_id", "group_id", "kind")
    sizes = joint.agg(
        ranks=pl.max_horizontal(
            pl.col("rank").n_unique().cast(pl.Int64), pl.col("group_size").max()
        ),
        rows=pl.len(),
    )
    widest = sizes.sort(
        ["run_id", "ranks", "rows", "group_id", "kind"],
        descending=[False, True, False, False, False],
    ).unique("run_id", keep="first", maintain_order=True)
    ends = ordered.join(
        widest.select("run_id", "group_id", "kind", is_end=pl.lit(value=True)),
        on=["run_id", "group_id", "kind"],
        how="left",
    ).sort(*_RANK, "start_ns")
    count = pl.int_range(pl.len(), dtype=pl.Int64).over(_SERIES)
    number = pl.when("is_end").then(pl.coalesce("sequence", count))
    following = number.fill_null(strategy="backward").over(_RANK)
    has_steps = pl.col("step").is_not_null().any().over("run_id")
    return ends.with_columns(
        number=pl.when(has_steps).then("step").otherwise(following)
    )
