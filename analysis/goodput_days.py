"""How much of the time that was paid for on each day made progress."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._goodput_ratios import over
from analysis._goodput_time import account_sums
from analysis.goodput import UNATTRIBUTED_MAX_RATIO
from analysis.lost_time import LostTime
from ingest.tables import Table
from ingest.tables import _columns as c


class GoodputDays(Table):
    """One row per run and UTC day."""

    key: ClassVar = ("run_id", "day")

    run_id = c.identifier("Run.")
    day = c.identifier("UTC day, as YYYY-MM-DD.")
    paid_gpu_ns = c.gpu_time_ns("GPU time that was paid for.")
    productive_gpu_ns = c.gpu_time_ns("Of it the ledger's account `productive`.")
    training_gpu_ns = c.gpu_time_ns(
        "Of it all of the steps that counted but stalls for checkpoints."
    )
    checkpoint_stall_gpu_ns = c.gpu_time_ns("Of it stalls for checkpoints.")
    recompute_gpu_ns = c.gpu_time_ns("Of it steps that were done again.")
    restart_gpu_ns = c.gpu_time_ns("Of it time until the run went on.")
    unallocated_gpu_ns = c.gpu_time_ns("Of it GPUs that were no ranks.")
    unattributed_gpu_ns = c.gpu_time_ns("Of it time without evidence.")
    goodput_ratio = c.ratio(
        "Productive over paid GPU time; null where no evidence tells of most of it.",
        nullable=True,
    )
    training_ratio = c.ratio(
        "Training over paid GPU time; null where no evidence tells of most of it.",
        nullable=True,
    )


def measure_days(frames: Frames, thresholds: Thresholds) -> Results:
    """Tell for each day how much of the time that was paid for made progress.

    A step counts for the days that it was in, by the ledger's rule at midnight. A day
    whose time is mostly unattributed has no ratio.
    """
    sums = account_sums(frames[LostTime], GoodputDays.key)
    silent = over(pl.col("unattributed_gpu_ns"), pl.col("paid_gpu_ns"))
    is_known = silent <= thresholds["goodput_day_unattributed_max_ratio"]
    ratios = {
        name: over(pl.when(is_known).then(pl.col(part)), pl.col("paid_gpu_ns"))
        for name, part in (
            ("goodput_ratio", "productive_gpu_ns"),
            ("training_ratio", "training_gpu_ns"),
        )
    }
    rows = sums.with_columns(**ratios).select(GoodputDays.column_names())
    return {
        GoodputDays: GoodputDays.validate(
            rows.sort(GoodputDays.key).collect(), cast=True
        )
    }


ANALYSIS: Final = Analysis(
    name="goodput_days",
    version=1,
    describes="How much of the time that was paid for on each day made progress",
    inputs=(LostTime,),
    needs=(LostTime,),
    outputs=(GoodputDays,),
    compute=measure_days,
    thresholds={"goodput_day_unattributed_max_ratio": UNATTRIBUTED_MAX_RATIO},
)
