"""What traced operations say of slow things: pauses, and long sequences."""

from typing import Final

import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD, GARBAGE, known_kind
from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_scores import moment
from analysis._straggler_things import RANK
from analysis.placing import place
from ingest.tables import Operations

#: Share of a stage's micro-batches that are short. [1]
_SHORT: Final = 0.1

_CELL: Final = ("run_id", "attempt", "step", "stage", "kind", "chunk")
_PASS: Final = ("spell", *RANK, "step", "microbatch", "chunk")


def passes_of(
    spells: pl.DataFrame,
    ranks: pl.DataFrame,
    operations: pl.LazyFrame,
    attempts: pl.LazyFrame,
    limits: CauseLimits,
) -> pl.DataFrame:
    """Return what the operations of each spell's ranks say, beside the others'.

    Args:
        spells: Columns `spell`, `run_id`, `moment_from` and `moment_to`.
        ranks: Ranks of each spell: `spell` and RANK.
        operations: Rows of Operations.
        attempts: Rows of Attempts, for operations that do not tell theirs.
        limits: What a pause is, and a slow micro-batch.

    Returns:
        Columns `spell`, `operation_rows`, `has_gc`, `gc_ns` (a rank's, beyond the mean
        of all), `forward_pause_ns` and `backward_pause_ns` (of a rank), `paused` (share
        of forward passes), `correlation`, `spread`, `slow_cells` (share of cells) and
        `shortest` (a rank's short micro-batches over its stage's). [1]
    """
    placed = _placed(operations, spells, attempts)
    typical = placed.group_by(_CELL).agg(
        typical_ns=pl.col("duration_ns").median(),
        short_ns=pl.col("duration_ns").quantile(_SHORT, "linear"),
    )
    bounds = spells.select("spell", "moment_from", "moment_to")
    of_spells = ranks.join(bounds, on="spell")
    during = moment().is_between(pl.col("moment_from"), pl.col("moment_to"))
    own = placed.join(of_spells, on=list(RANK)).filter(during)
    beside = own.join(typical, on=list(_CELL), nulls_equal=True)
    paused, lengths = _pauses(beside, limits), _lengths(beside, limits)
    spells_told = paused.join(lengths, on="spell", how="left")
    return spells_told.join(_garbage(own, placed), on="spell", how="left")


def _placed(
    operations: pl.LazyFrame, spells: pl.DataFrame, attempts: pl.LazyFrame
) -> pl.DataFrame:
    kind = known_kind(Operations.kind.col)
    runs = spells.select("run_id").unique().lazy()
    rows = operations.join(runs, on="run_id", how="semi").select(
        *("run_id", "attempt", "step", "rank", "microbatch", "chunk", "start_ns"),
        "duration_ns",
        kind=kind.cast(pl.String),
        stage="pp_rank",
    )
    wanted = rows.filter(pl.col("kind").is_in([FORWARD, BACKWARD, GARBAGE]))
    return place(wanted, attempts, "start_ns").collect(engine="streaming")


def _pauses(beside: pl.DataFrame, limits: CauseLimits) -> pl.DataFrame:
    beyond = pl.col("duration_ns") - pl.col("typical_ns")
    pause = pl.when(beyond > limits.pause_ns).then(beyond).otherwise(0.0)
    forward, backward = (pl.col("kind") == kind for kind in (FORWARD, BACKWARD))
    ranks = beside.with_columns(pause=pause).group_by("spell", "rank")
    told = ranks.agg(
        operation_rows=pl.len().cast(pl.Int64),
        forward_pause_ns=pl.col("pause").filter(forward).sum(),
        backward_pause_ns=pl.col("pause").filter(backward).sum(),
        paused=(pl.col("pause") > 0).filter(forward).mean(),
        passes=(forward | backward).sum().cast(pl.Int64),
    )
    names = ("forward_pause_ns", "backward_pause_ns", "paused")
    known = pl.col("passes").sum() > 0
    return told.group_by("spell").agg(
        pl.col("operation_rows").sum(),
        *(pl.when(known).then(pl.col(name).median()).alias(name) for name in names),
    )


def _lengths(beside: pl.DataFrame, limits: CauseLimits) -> pl.DataFrame:
    """Hold forward against backward passes of the same micro-batch.

    What a rank has in all micro-batches of a step is not their length: its median of
    the step is taken out.
    """
    ratio = pl.col("duration_ns") / pl.col("typical_ns")
    kinds = {"forward": FORWARD, "backward": BACKWARD}
    passes = beside.filter(pl.col("microbatch").is_not_null()).group_by(_PASS)
    cells = passes.agg(
        *(
            ratio.filter(pl.col("kind") == kind).sum().alias(name)
            for name, kind in kinds.items()
        ),
        short_ns=pl.col("short_ns").filter(pl.col("kind") == FORWARD).first(),
        own_ns=pl.col("duration_ns").filter(pl.col("kind") == FORWARD).sum(),
    ).filter((pl.col("forward") > 0) & (pl.col("backward") > 0))
    of_step = ["spell", *RANK, "step"]
    about = [
        (pl.col(name) - pl.col(name).median().over(of_step)).alias(f"{name}_own")
        for name in kinds
    ]
    shortest = pl.col("own_ns").quantile(_SHORT, "linear").over(of_step)
    ordered = cells.sort(_PASS, nulls_last=True)
    told = ordered.with_columns(*about, shortest=shortest / pl.col("short_ns"))
    return told.group_by("spell").agg(
        correlation=pl.corr("forward_own", "backward_own"),
        spread=pl.col("forward_own").std(),
        slow_cells=(pl.col("forward") > limits.slow_cell_ratio).mean(),
        shortest=pl.col("shortest").median(),
    )


def _garbage(own: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Return what each spell's rank collected beyond the mean of all in its steps."""
    step = ["run_id", "attempt", "step"]
    is_gc = pl.col("kind") == GARBAGE
    length = pl.col("duration_ns").filter(is_gc).sum()
    mean = placed.group_by(step).agg(mean_ns=length / pl.col("rank").n_unique())
    ranks = own.group_by("spell", *RANK, "step").agg(gc_ns=length).join(mean, on=step)
    beyond = (pl.col("gc_ns") - pl.col("mean_ns")).sum()
    totals = ranks.group_by("spell", "rank").agg(gc_ns=beyond)
    runs = placed.group_by("run_id").agg(has_gc=is_gc.any())
    of_spell = own.select("spell", "run_id").unique().join(runs, on="run_id")
    gc = totals.group_by("spell").agg(pl.col("gc_ns").median())
    return gc.join(of_spell.drop("run_id"), on="spell")
