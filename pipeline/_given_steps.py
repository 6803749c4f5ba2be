"""Days of a generated cluster's steps, made in memory."""

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from analysis._rollup import Bounds
from ingest.staging import Place
from ingest.synthetic.cluster._days import days_of
from ingest.synthetic.cluster._draws import BLOCK_STEPS
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import frame_of, step_windows, steps_within
from ingest.tables import StepTimings
from ingest.times import day_name
from pipeline._given import GivenDay
from pipeline._windows import WINDOW_ROWS


def given_steps(
    cluster: Cluster, key: str, from_ns: int, to_ns: int
) -> Iterator[GivenDay]:
    """Yield the UTC days of a cluster's steps; days without steps are left out.

    Args:
        cluster: The cluster.
        key: What stands for it.
        from_ns: Start of the time. [ns]
        to_ns: End of the time, not included: a midnight. [ns]
    """
    for bounds in days_of(from_ns, to_ns):
        inside = (steps_within(one, *bounds) for one in cluster.attempts)
        count = sum(high - low for low, high in inside)
        if count:
            yield GivenDay(
                table=StepTimings,
                place=Place(cluster.scenario.run_id, day_name(bounds[0])),
                key=f"{key} {bounds[0]} {bounds[1]}",
                rows=count * cluster.scenario.ranks,
                read=partial(_read, cluster, bounds),
            )


def _read(
    cluster: Cluster,
    times_ns: tuple[int, int],
    columns: Sequence[str],
    bounds: Bounds | None,
) -> Iterator[pl.DataFrame]:
    """Make the steps of a time, those within bounds or all, window by window."""
    size = max(WINDOW_ROWS // cluster.scenario.ranks, 1)
    whole = size // BLOCK_STEPS * BLOCK_STEPS or size
    for window in step_windows(cluster, *times_ns, whole, bounds):
        yield frame_of(window, columns)
