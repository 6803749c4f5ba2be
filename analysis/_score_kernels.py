"""One score of all the compute kernels of a rank."""

from typing import Final

import polars as pl

from ingest.tables import Kernels

#: Section of a rank's compute kernels.
GPU: Final = "gpu_kernels"

_RUN: Final = ["run_id", "rank"]


def kernel_scores(kernels: pl.LazyFrame, report: pl.Expr) -> pl.DataFrame:
    """Score the kernels that all traced ranks of a run have in common.

    The score is the mean of each kernel's own, weighed by the time that the rank spends
    in it: `sum(ref / median x count x mean) / sum(count x mean)`.
    Source: nvidia-resiliency-ext, GPU performance score.

    Args:
        kernels: Rows of Kernels.
        report: Which report a step belongs to.

    Returns:
        Columns of SectionScores without `is_flagged`; ranks without a common kernel
        have null for scores.
    """
    is_compute = Kernels.category.col == "compute"
    named = kernels.filter(is_compute & Kernels.rank.col.is_not_null())
    medians = (
        named.group_by(*_RUN, "name", report=report.fill_null(0))
        .agg(
            median=pl.col("duration_ns").median(),
            total=pl.col("duration_ns").sum().cast(pl.Float64),
        )
        .filter(pl.col("median") > 0)
        .collect(engine="streaming")
    )
    ranks = medians.select(_RUN).unique()
    common = _common(medians).sort(*_RUN, "name", "report")
    told = _relative(common).join(_individual(common), on=_RUN, how="left")
    scored = ranks.join(told, on=_RUN, how="left")
    reports = medians.group_by(_RUN).agg(reports_count=pl.col("report").n_unique())
    return scored.join(reports, on=_RUN).with_columns(
        pl.col("reports_count").cast(pl.Int64), section=pl.lit(GPU)
    )


def _common(medians: pl.DataFrame) -> pl.DataFrame:
    """Return the kernels that every traced rank of the run has."""
    ranks = pl.col("rank").n_unique()
    all_ranks = medians.group_by("run_id").agg(all=ranks)
    names = medians.group_by("run_id", "name").agg(ranks=ranks)
    shared = names.join(all_ranks, on="run_id").filter(pl.col("ranks") == pl.col("all"))
    return medians.join(shared, on=["run_id", "name"], how="semi")


def _relative(common: pl.DataFrame) -> pl.DataFrame:
    kernels = common.group_by(*_RUN, "name", maintain_order=True).agg(
        pl.col("median").median(), pl.col("total").sum()
    )
    least = pl.col("median").min().over("run_id", "name")
    others = pl.col("rank").n_unique().over("run_id") > 1
    score = pl.when(others).then(least / pl.col("median"))
    scored = kernels.with_columns(score=score).group_by(_RUN, maintain_order=True)
    return scored.agg(relative_score=_weighed())


def _individual(common: pl.DataFrame) -> pl.DataFrame:
    kernel = [*_RUN, "name"]
    best = pl.col("median").cum_min().over(kernel)
    reports = common.with_columns(score=best / pl.col("median"))
    scored = reports.group_by(*_RUN, "report").agg(score=_weighed()).sort("report")
    has_several = pl.len() > 1
    return scored.group_by(_RUN, maintain_order=True).agg(
        individual_score=pl.when(has_several).then(pl.col("score").last()),
        lowest_individual_score=pl.when(has_several).then(pl.col("score").min()),
    )


def _weighed() -> pl.Expr:
    """Return the mean score by the time that kernels take, null where none is."""
    known = pl.col("score").is_not_null().any()
    mean = (pl.col("score") * pl.col("total")).sum() / pl.col("total").sum()
    return pl.when(known).then(mean)
