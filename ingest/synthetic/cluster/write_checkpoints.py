"""Checkpoints of a generated run: a save whenever a step waits for one."""

from pathlib import Path

import numpy as np
import polars as pl

from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow

#: State of a parameter: weights, gradients and moments of Adam. [B]
_BYTES_PER_PARAMETER = 14

#: How long a save goes on in the background, over its stall. [1]
_DURABLE_AFTER = 8


class CheckpointLog:
    """Collects the checkpoints of the steps that go by."""

    def __init__(self, cluster: Cluster) -> None:
        """Take the cluster."""
        self._bytes = round(cluster.scenario.model.parameters * _BYTES_PER_PARAMETER)
        self._saves: list[pl.DataFrame] = []

    def take(self, window: StepWindow) -> None:
        """Collect the checkpoints of a window: one for all ranks."""
        stall = window.checkpoint.max(axis=1)
        (saved,) = np.nonzero(stall)
        end = window.start[saved, 0] + window.duration[saved, 0]
        lasted = stall[saved]
        self._saves.append(
            pl.DataFrame(
                {
                    "step": window.first_step + saved,
                    "start_ns": end - lasted,
                    "duration_ns": lasted * _DURABLE_AFTER,
                    "stall_ns": lasted,
                    "durable_ns": end + lasted * (_DURABLE_AFTER - 1),
                }
            ).select(
                pl.lit(window.run_id).alias("run_id"),
                pl.lit(window.attempt.number).alias("attempt"),
                pl.lit("save").alias("kind"),
                pl.all(),
                pl.lit(self._bytes).alias("bytes"),
                pl.lit("store").alias("tier"),
            )
        )

    def write(self, path: Path) -> int:
        """Write JSON lines and return how many. [1]"""
        saves = pl.concat(self._saves) if self._saves else pl.DataFrame()
        path.parent.mkdir(parents=True, exist_ok=True)
        saves.write_ndjson(path)
        return saves.height
