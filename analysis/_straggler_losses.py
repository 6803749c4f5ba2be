"""What slow things cost: each step with and without them at their peers' median."""

from typing import Final

import polars as pl

from analysis._straggler_scores import ATTEMPT
from analysis._straggler_things import RANK

_STEP: Final = ("run_id", "attempt", "step")

#: No slow thing: what ranks of slow things look like, without any.
NO_SLOW: Final = pl.DataFrame(
    schema={
        "run_id": pl.String,
        "attempt": pl.Int32,
        "rank": pl.Int32,
        "thing": pl.UInt32,
        "is_stage": pl.Boolean,
        "place_from": pl.Int64,
        "place_to": pl.Int64,
    }
)

#: Sums of GPU time need it: a product of ns and ranks may pass Int64.
_WIDE: Final = pl.Int128


def with_repairs(
    units: pl.DataFrame, stages: pl.DataFrame, slow: pl.DataFrame
) -> pl.DataFrame:
    """Add what each rank's work would be without the slow things it belongs to.

    Args:
        units: Compared steps of ranks.
        stages: Compared steps of stages.
        slow: Ranks of slow things: RANK, `thing`, `is_stage`, `place_from`, `place_to`.

    Returns:
        The rows with `unit_thing` and `stage_thing` (the slow thing, null outside its
        spell), `stage_ratio` and `repaired_ns`.
    """
    rows = _during(_during(units, slow, "unit_thing"), slow, "stage_thing")
    others = stages.select(*_STEP, "stage", stage_ratio="ratio")
    joined = rows.join(others, on=[*_STEP, "stage"], how="left")
    of_unit = pl.col("unit_thing").is_not_null()
    of_stage = pl.col("stage_thing").is_not_null()
    level = pl.col("work_ns") / pl.col("stage_ratio")
    repaired = pl.min_horizontal(
        "work_ns",
        pl.when(of_unit).then(pl.col("peers_ns").round()),
        pl.when(of_stage).then(level.round()),
    )
    return joined.with_columns(repaired_ns=repaired.cast(pl.Int64))


def _during(rows: pl.DataFrame, slow: pl.DataFrame, name: str) -> pl.DataFrame:
    """Add the slow thing of each row, within its spell."""
    of_kind = slow.filter(pl.col("is_stage") == (name == "stage_thing"))
    told = of_kind.select(*RANK, "place_from", "place_to", pl.col("thing").alias(name))
    place = pl.col("attempt").cast(pl.Int64) * ATTEMPT + pl.col("block")
    during = place.is_between(pl.col("place_from"), pl.col("place_to"))
    found = rows.join(told, on=list(RANK), how="left")
    inside = found.with_columns(pl.when(during).then(pl.col(name)))
    return inside.drop("place_from", "place_to")


def totals_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each step's slowest and typical work, and what slow things cost in it.

    What is left of slowest minus typical once slow things are repaired is jitter.
    """
    most = pl.col("work_ns").max()
    steps = rows.group_by(_STEP).agg(
        slowest_rank=pl.col("rank").filter(pl.col("work_ns") == most).min(),
        slowest_work_ns=most,
        typical_work_ns=pl.col("work_ns").median().round().cast(pl.Int64),
        repaired_ns=pl.col("repaired_ns").max(),
        ranks_seen=pl.len().cast(pl.Int64),
    )
    ranks = pl.col("ranks_seen").cast(_WIDE)
    saved = pl.col("slowest_work_ns") - pl.col("repaired_ns")
    left = (pl.col("repaired_ns") - pl.col("typical_work_ns")).clip(0)
    return steps.with_columns(lost_gpu_ns=saved * ranks, jitter_gpu_ns=left * ranks)


def losses_of(rows: pl.DataFrame, thing: str, ratio: str) -> pl.DataFrame:
    """Return what each slow thing alone costs in each step of its spell.

    Without it the step would end with the slowest of: what is not slow, the other slow
    things, and this one repaired. The two slowest things of a step tell that for all.

    Args:
        rows: Steps of ranks with repairs.
        thing: Column of the slow thing.
        ratio: Column of its slowdown.

    Returns:
        Columns of a step, `thing`, `ratio`, `excess_ns` (work that a repair saves),
        `excess_data_ns` (of it, beyond the typical wait for input), `lost_gpu_ns`.
    """
    work = pl.col("work_ns")
    is_slow = pl.col(thing).is_not_null()
    typical = pl.col("data_ns").median().over(_STEP)
    told = rows.with_columns(
        slowest=work.max().over(_STEP),
        healthy=work.filter(~is_slow).max().over(_STEP).fill_null(0),
        excess_ns=work - pl.col("repaired_ns"),
        excess_data_ns=pl.col("data_ns") - typical,
        ranks=pl.len().over(_STEP).cast(_WIDE),
    )
    things = (
        told.filter(is_slow)
        .group_by(*_STEP, thing=thing)
        .agg(
            pl.col(ratio).median().alias("ratio"),
            pl.col("excess_ns", "excess_data_ns").median(),
            pl.col("slowest", "healthy", "ranks").first(),
            pl.col("work_ns", "repaired_ns").max(),
        )
    )
    first, second = work.max().over(_STEP), work.top_k(2).min().over(_STEP)
    other = pl.when(work == first).then(second).otherwise(first)
    only = pl.len().over(_STEP) == 1
    left = pl.max_horizontal("healthy", "repaired_ns", pl.when(~only).then(other))
    lost = (pl.col("slowest") - left).clip(0) * pl.col("ranks")
    columns = ["thing", "ratio", "excess_ns", "excess_data_ns", "lost_gpu_ns"]
    return things.with_columns(lost_gpu_ns=lost).select(*_STEP, *columns)
