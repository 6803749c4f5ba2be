"""What was measured of saves, interruptions, what they took, and of power."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._plan_told import told
from analysis._step_rollup_log import longest_steps
from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.lost_time import LostTime
from analysis.power_swings import PowerSwings
from analysis.spare_plans import SparePlans
from ingest.tables import Checkpoints
from ingest.times import SECOND_NS

#: Accounts of what checkpoints cost, and of what is lost for want of them.
_WASTE: Final = ("checkpoint_stall", "recompute", "restart")

#: Share of paid time without evidence up to which shares of accounts are told. [1]
_UNTOLD_MAX: Final = 0.01

_STEP: Final = ("run_id", "attempt", "step")


def saves(frames: Frames) -> pl.DataFrame:
    """Return size, stall and distance of saves, each taken as that of all ranks."""
    saves = frames[Checkpoints].filter(Checkpoints.kind.col == "save")
    each = saves.group_by(_STEP).agg(
        size=pl.when(pl.col("bytes").is_not_null().any()).then(pl.col("bytes").sum()),
        stall=pl.col("stall_ns").max(),
        start=pl.col("start_ns").min(),
    )
    apart = pl.col("start").sort().diff().over("run_id", "attempt", order_by="start")
    logged = longest_steps(frames).filter(pl.col("checkpoint_ns") > 0)
    steps = logged.group_by(_STEP).agg(stall=pl.col("checkpoint_ns").max())
    stall = pl.col("stall").median() / SECOND_NS
    whole = each.with_columns(apart=apart)
    return pl.concat(
        [
            told(each, "checkpoint_size", pl.col("size").median(), "checkpoints"),
            told(each, "checkpoint_stall", stall, "checkpoints, median of saves"),
            told(steps, "checkpoint_stall", stall, "step_timings, median of saves"),
            told(
                *(whole, "checkpoint_interval"),
                *(pl.col("apart").median() / SECOND_NS, "checkpoints, median of saves"),
            ),
        ]
    )


def stops(frames: Frames) -> pl.DataFrame:
    """Return the mean time between interruptions, and the spares that pay. [s, 1]

    Of runs that had enough interruptions: below that a rate would feign knowledge.
    """
    rates = frames[InterruptRates].filter(
        (pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
        & (pl.col("category") == "all")
        & (pl.col("component") == "all")
        & (pl.col("count") >= FEW_EVENTS)
    )
    mean = pl.col("mtbf_ns").cast(pl.Float64).first() / SECOND_NS
    best = frames[SparePlans].filter(
        pl.col("is_best")
        & (pl.col("rate_case") == "estimate")
        & pl.col("withheld").is_null()
    )
    return pl.concat(
        [
            told(rates, "run_mtbf", mean, "interrupt_rates, unplanned ones"),
            told(
                *(best, "spares_that_pay", pl.col("spares").first()),
                "spare_plans, failures and returns of nodes that were seen",
            ),
        ]
    )


def accounts(frames: Frames) -> pl.DataFrame:
    """Return shares of paid time: what checkpoints and restarts took, and bubbles. [1]

    A run of which much is in no account tells no share.
    """
    spent = pl.col("gpu_ns").cast(pl.Float64)
    rows = frames[LostTime].sort(LostTime.key)

    def share(*categories: str) -> pl.Expr:
        of = spent.filter(pl.col("category").is_in(categories)).sum()
        return of / spent.sum()

    source = "lost_time, share of paid time"
    parts = (("interval_waste", _WASTE), ("bubble_of_step", ("pipeline_bubble",)))
    known = share("unattributed") <= _UNTOLD_MAX
    return pl.concat(
        [
            told(
                rows, name, pl.when(known, share(*some) > 0).then(share(*some)), source
            )
            for name, some in parts
        ]
    )


def power(frames: Frames) -> pl.DataFrame:
    """Return power and its swing, of a run of which every GPU was measured. [W]"""
    held = frames[Attempts].group_by("run_id").agg(pl.col("gpu_count").max())
    known = frames[Energy].filter(pl.col("mean_w").is_not_null())
    rows = known.join(held, on="run_id").sort(Energy.key)
    all_seen = pl.col("gpu_uuid").n_unique() == pl.col("gpu_count").first()
    total = pl.when(all_seen).then(pl.col("mean_w").sum())
    range_w = pl.col("dynamic_range_w").max()
    return pl.concat(
        [
            told(rows, "gpu_power", total, "energy, mean power of all GPUs"),
            told(
                *(frames[PowerSwings], "power_swing", range_w),
                "power_swings, greatest range of any window that sensors show",
            ),
        ]
    )
