"""What slow things cost: each step with and without them at their peers' median."""

from typing import Final

import polars as pl

from analysis._straggler_scores import moment
from analysis._straggler_things import RANK

_STEP: Final = ("run_id", "attempt", "step")

_EXCESS: Final = ("excess_ns", "excess_data_ns", "excess_transfer_ns")

#: Sums of GPU time need it: a product of ns and ranks may pass Int64.
_WIDE: Final = pl.Int128


def with_repairs(
    units: pl.DataFrame, stages: pl.DataFrame, slow: pl.DataFrame
) -> pl.DataFrame:
    """Add what each rank's work would be without the slow things it belongs to.

    Args:
        units: Compared steps of ranks.
        stages: Compared steps of stages.
        slow: Ranks of slow things: RANK, `spell`, `is_stage`, `moment_from` and
            `moment_to`.

    Returns:
        The rows with `unit_spell` and `stage_spell` (null outside of every spell),
        `stage_ratio` and `repaired_ns`.
    """
    rows = _during(_during(units, slow, "unit_spell"), slow, "stage_spell")
    others = stages.select(*_STEP, "stage", stage_ratio="ratio")
    joined = rows.join(others, on=[*_STEP, "stage"], how="left")
    of_unit = pl.col("unit_spell").is_not_null()
    of_stage = pl.col("stage_spell").is_not_null()
    level = pl.col("work_ns") / pl.col("stage_ratio")
    repaired = pl.min_horizontal(
        "work_ns",
        pl.when(of_unit).then(pl.col("peers_ns").round()),
        pl.when(of_stage).then(level.round()),
    )
    return joined.with_columns(repaired_ns=repaired.cast(pl.Int64))


def _during(rows: pl.DataFrame, slow: pl.DataFrame, name: str) -> pl.DataFrame:
    """Add the spell that each row is in; of several, the first."""
    of_kind = slow.filter(pl.col("is_stage") == (name == "stage_spell"))
    told = of_kind.select(*RANK, "moment_from", "moment_to", "spell")
    steps = rows.select(*RANK, "step", moment=moment())
    bounds = told.select(pl.col("moment_from").min(), pl.col("moment_to").max())
    near = steps.filter(pl.col("moment").is_between(*bounds.row(0)))
    inside = near.join(told, on=list(RANK)).filter(
        pl.col("moment").is_between(pl.col("moment_from"), pl.col("moment_to"))
    )
    found = inside.group_by(*RANK, "step").agg(pl.col("spell").min().alias(name))
    return rows.join(found, on=[*RANK, "step"], how="left")


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
    return priced(steps)


def priced(steps: pl.DataFrame) -> pl.DataFrame:
    """Add what slow things cost in each step, and jitter, by its `repaired_ns`."""
    ranks = pl.col("ranks_seen").cast(_WIDE)
    saved = pl.col("slowest_work_ns") - pl.col("repaired_ns")
    left = (pl.col("repaired_ns") - pl.col("typical_work_ns")).clip(0)
    return steps.with_columns(lost_gpu_ns=saved * ranks, jitter_gpu_ns=left * ranks)


def losses_of(rows: pl.DataFrame, spell: str, ratio: str) -> pl.DataFrame:
    """Return what each slow thing alone costs in each step of a spell of it.

    Without it the step would end with the slowest of: what is not slow, the other slow
    things, and this one repaired. The two slowest things of a step tell that for all.

    Args:
        rows: Steps of ranks with repairs.
        spell: Column of the spell.
        ratio: Column of its slowdown.

    Returns:
        Columns of a step, `spell`, `ratio`, `excess_ns` (work that a repair saves),
        `excess_data_ns` (of it, beyond the typical wait for input),
        `excess_transfer_ns` (beyond the typical transfer), `saved_ns` (of the step),
        `lost_gpu_ns` and `step_rows` (ranks of the thing).
    """
    work, is_slow = pl.col("work_ns"), pl.col(spell).is_not_null()
    told = rows.with_columns(
        slowest=work.max().over(_STEP),
        healthy=work.filter(~is_slow).max().over(_STEP).fill_null(0),
        data_typical=pl.col("data_ns").median().over(_STEP),
        transfer_typical=pl.col("transfer_ns").median().over(_STEP),
        ranks=pl.len().over(_STEP).cast(_WIDE),
    )
    return _lost(told.filter(is_slow), spell, ratio)


def losses_among(
    rows: pl.DataFrame, others: pl.DataFrame, spell: str, ratio: str
) -> pl.DataFrame:
    """Return what `losses_of` does, where only ranks of slow things have rows.

    Args:
        rows: Steps of ranks of slow things with repairs.
        others: Of each step `others_ns` (the most work of all other ranks),
            `data_typical`, `transfer_typical` and `ranks` (of all).
        spell: Column of the spell.
        ratio: Column of its slowdown.
    """
    work, is_slow = pl.col("work_ns"), pl.col(spell).is_not_null()
    healthy = work.filter(~is_slow).max().over(_STEP)
    told = rows.join(others, on=["attempt", "step"]).with_columns(
        slowest=pl.max_horizontal(work.max().over(_STEP), "others_ns"),
        healthy=pl.max_horizontal(healthy, "others_ns").fill_null(0),
        ranks=pl.col("ranks").cast(_WIDE),
    )
    return _lost(told.filter(is_slow), spell, ratio)


def _lost(slow: pl.DataFrame, spell: str, ratio: str) -> pl.DataFrame:
    """Return the loss of each slow thing in each step, from rows of slow ranks."""
    work = pl.col("work_ns")
    excess = {
        "excess_ns": work - pl.col("repaired_ns"),
        "excess_data_ns": pl.col("data_ns") - pl.col("data_typical"),
        "excess_transfer_ns": pl.col("transfer_ns") - pl.col("transfer_typical"),
    }
    things = (
        slow.with_columns(**excess)
        .group_by(*_STEP, spell=spell)
        .agg(
            pl.col(ratio).median().alias("ratio"),
            pl.col(_EXCESS).median(),
            pl.len().cast(pl.Int64).alias("step_rows"),
            pl.col("slowest", "healthy", "ranks").first(),
            pl.col("work_ns", "repaired_ns").max(),
        )
    )
    first, second = work.max().over(_STEP), work.top_k(2).min().over(_STEP)
    other = pl.when(work == first).then(second).otherwise(first)
    only = pl.len().over(_STEP) == 1
    left = pl.max_horizontal("healthy", "repaired_ns", pl.when(~only).then(other))
    saved = (pl.col("slowest") - left).clip(0)
    told = things.with_columns(saved_ns=saved, lost_gpu_ns=saved * pl.col("ranks"))
    columns = ["spell", "ratio", *_EXCESS, "saved_ns", "lost_gpu_ns", "step_rows"]
    return told.select(*_STEP, *columns)
