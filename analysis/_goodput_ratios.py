"""Quotients of goodput, each with the reason where it cannot be known."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Why nothing can be said of useful work, and of the FLOPs of the model.
REASONS: Final = ("no steps", "traces are samples", "mostly unattributed")
MFU_REASONS: Final = (
    *(*REASONS, "no parameters", "no tokens", "no peak"),
    "above the peak",
)

#: FLOPs of training one token with one parameter: 2 forward, 4 backward (Kaplan et al.
#: 2020, arXiv 2001.08361; PaLM, arXiv 2204.02311, appendix B). [1]
FLOPS_PER_PARAMETER: Final = 6

#: FLOP/s of a TFLOP/s.
_TERA: Final = 1e12


def with_ratios(rows: pl.DataFrame, unattributed_max: float) -> pl.DataFrame:
    """Add the quotients of runs.

    Args:
        rows: A row for each run: its times, accounts, steps and card.
        unattributed_max: Share of the paid time without evidence above which nothing
            is said of the rest. [1]
    """
    reasoned = rows.with_columns(unknown_reason=_reason(unattributed_max))
    is_known = pl.col("unknown_reason").is_null()
    trained = pl.when(is_known).then(pl.col("training_ns"))
    useful = pl.col("productive_gpu_ns"), pl.col("training_gpu_ns")
    told = reasoned.with_columns(
        ettr_ratio=over(trained, pl.col("wall_ns")),
        ettr_without_queue_ratio=over(trained, pl.col("wall_ns") - pl.col("queue_ns")),
        effective_training_ratio=over(trained, pl.col("elapsed_ns")),
        **{
            name: over(pl.when(is_known).then(one), pl.col("paid_gpu_ns"))
            for name, one in zip(
                ("goodput_ratio", "training_ratio"), useful, strict=True
            )
        },
        google_goodput_ratio=over(
            pl.when(pl.col("steps_kept") > 0).then("google_productive_ns"),
            pl.col("elapsed_ns"),
        ),
        tokens=pl.col("steps_kept") * pl.col("tokens_per_step"),
    )
    return _with_mfu(told)


def over(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return a quotient, null where the whole is nothing. [1]"""
    return pl.when(whole > 0).then(part.cast(pl.Float64) / whole.cast(pl.Float64))


def _reason(unattributed_max: float) -> pl.Expr:
    silent = over(pl.col("unattributed_gpu_ns"), pl.col("paid_gpu_ns"))
    return (
        pl.when(~pl.col("has_steps").fill_null(value=False))
        .then(pl.lit(REASONS[0]))
        .when(pl.col("is_sampled").fill_null(value=False))
        .then(pl.lit(REASONS[1]))
        .when(silent > unattributed_max)
        .then(pl.lit(REASONS[2]))
    )


def _with_mfu(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the share of the peak that the model's own FLOPs are, of two times.

    More than the peak cannot be: the card is of another model, GPU or step.
    """
    flops = pl.col("tokens") * pl.col("active_parameters") * FLOPS_PER_PARAMETER
    peak = pl.col("peak_tflops") * _TERA / SECOND_NS
    stepping = pl.col("kept_step_ns").cast(pl.Float64) * pl.col("rank_gpus")
    of_steps = over(flops, peak * stepping)
    of_paid = over(flops, peak * pl.col("paid_gpu_ns").cast(pl.Float64))
    known = rows.with_columns(
        mfu_reason=_mfu_reason(), mfu_ratio=of_steps, paid_mfu_ratio=of_paid
    )
    above = (pl.col("mfu_ratio") > 1).fill_null(value=False)
    reasoned = known.with_columns(
        mfu_reason=pl.when(above & pl.col("mfu_reason").is_null())
        .then(pl.lit(MFU_REASONS[-1]))
        .otherwise("mfu_reason")
    )
    is_known = pl.col("mfu_reason").is_null()
    ratios = pl.col("mfu_ratio", "paid_mfu_ratio")
    return reasoned.with_columns(pl.when(is_known).then(ratios).name.keep())


def _mfu_reason() -> pl.Expr:
    return (
        pl.when(pl.col("steps_kept").fill_null(0) <= 0)
        .then(pl.coalesce("unknown_reason", pl.lit(MFU_REASONS[0])))
        .when(pl.col("active_parameters").is_null())
        .then(pl.lit("no parameters"))
        .when(pl.col("tokens").is_null())
        .then(pl.lit("no tokens"))
        .when(pl.col("peak_tflops").is_null())
        .then(pl.lit("no peak"))
    )
