"""Scores of ranks in runs whose steps are kept by day: each day's reports joined."""

from typing import Final

import polars as pl

_RANK: Final = ("run_id", "rank")


def day_scores(ranks: pl.LazyFrame, section: str) -> pl.DataFrame:
    """Score own work as `score_sections` does, from what each day keeps of its reports.

    A report is of steps of one day and attempt. The least and the last report of each
    day, and the greatest, tell the individual scores exactly; a rank's median is that
    of its days' medians, each weighed by its reports.

    Args:
        ranks: Rows of StragglerDaysRanks.
        section: Name of the section of own work.

    Returns:
        Columns of SectionScores without `is_flagged`.
    """
    known = ranks.filter(pl.col("reports_count") > 0).collect(engine="streaming")
    ordered = known.sort(*_RANK, "day", "attempt")
    best = pl.col("least_ns").cum_min().shift(1).over(_RANK)
    lowest = pl.min_horizontal("lowest_score", best / pl.col("most_ns"))
    days = ordered.with_columns(lowest=lowest).group_by(_RANK, maintain_order=True)
    has_several = pl.col("reports_count").sum() > 1
    individual = pl.col("least_ns").min() / pl.col("last_ns").last()
    told = days.agg(
        median_ns=_weighed_median().cast(pl.Float64),
        individual_score=pl.when(has_several).then(individual),
        lowest_individual_score=pl.when(has_several).then(pl.col("lowest").min()),
        reports_count=pl.col("reports_count").sum(),
    )
    least = pl.col("median_ns").min().over("run_id")
    others = pl.col("rank").n_unique().over("run_id") > 1
    score = pl.when(others).then(least / pl.col("median_ns"))
    return told.with_columns(relative_score=score, section=pl.lit(section))


def _weighed_median() -> pl.Expr:
    """Return the median of days' medians, each as often as it has reports. [ns]"""
    order = pl.col("median_ns")
    reports = pl.col("reports_count").sort_by(order).cum_sum()
    is_beyond = 2 * reports >= pl.col("reports_count").sum()
    return order.sort_by(order).filter(is_beyond).first()
