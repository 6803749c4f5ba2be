"""The drawings of a feed: where it went wrong, and what input took of each step."""

from typing import Final

import polars as pl

from reports import _feed_fault_chart, _feed_step_chart
from reports._section import Chart, Scope

#: Steps that are told apart at once; more are put together by as many as it takes.
_MOST_STEPS: Final = 120


def charts(faults: pl.DataFrame, steps: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the drawings; nothing for several runs, whose steps are not the same.

    Args:
        faults: Rows of DataFeedViolations.
        steps: Rows of DataFeedSteps.
        scope: Runs of the page.
    """
    if steps["run_id"].n_unique() != 1 or steps["step"].n_unique() < 2:  # noqa: PLR2004 - a line needs two ends
        return []
    first, last = steps.select(
        first=pl.col("step").min(), last=pl.col("step").max()
    ).row(0)
    width = max(1, -(-(last - first + 1) // _MOST_STEPS))
    return [
        *_feed_fault_chart.chart(faults, (first, last), width, scope),
        *_feed_step_chart.chart(steps.filter("is_kept"), width, scope),
    ]
