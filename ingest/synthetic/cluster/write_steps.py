"""Step logs of a cluster: text, a file for each node and attempt, or Parquet."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl

from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow, frame_of

#: Kinds of step logs.
Kind = Literal["jsonl", "csv", "parquet"]

#: Nodes whose rows are written at once.
_THREADS: Final = 2

#: Packing and rows of a row group of Parquet files. [1]
_LEVEL: Final = 3
_GROUP_ROWS: Final = 1 << 20

#: Columns of which a window has an array each.
_TIMES: Final = (
    *("start", "duration", "compute", "communication"),
    *("wait", "data", "checkpoint"),
)


@dataclass(frozen=True, slots=True)
class StepLogs:
    """Writes the steps of every rank as they go by.

    Attributes:
        folder: Where the files go.
        cluster: The cluster.
        kind: JSON lines, CSV, or a Parquet file for each window.
    """

    folder: Path
    cluster: Cluster
    kind: Kind

    def take(self, window: StepWindow) -> int:
        """Append the steps of a window; return the rows. [1]"""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.kind == "parquet":
            return self._add(window)
        nodes = range(self.cluster.scenario.fleet.hosts)
        with ThreadPoolExecutor(_THREADS) as threads:
            return sum(threads.map(lambda node: self._append(window, node), nodes))

    def _add(self, window: StepWindow) -> int:
        rows = frame_of(window)
        name = f"attempt-{window.attempt.number:03}-step-{window.first_step:08}.parquet"
        rows.write_parquet(
            self.folder / name,
            compression="zstd",
            compression_level=_LEVEL,
            row_group_size=_GROUP_ROWS,
        )
        return rows.height

    def _append(self, window: StepWindow, node: int) -> int:
        per_node = self.cluster.scenario.fleet.gpus_per_node
        ranks = slice(node * per_node, (node + 1) * per_node)
        rows = _rows(window, ranks)
        host = self.cluster.fleet.hosts[node]
        name = f"attempt-{window.attempt.number:03}-{host}.{self.kind}"
        with (self.folder / name).open("ab") as file:
            if self.kind == "jsonl":
                rows.write_ndjson(file)
            else:
                rows.write_csv(file, include_header=file.tell() == 0)
        return rows.height


def _rows(window: StepWindow, ranks: slice) -> pl.DataFrame:
    """Return the rows of some ranks, step by step, as their node logs them."""
    count = ranks.stop - ranks.start
    step = window.first_step + np.arange(window.steps)
    times = {f"{n}_ns": getattr(window, n)[:, ranks].reshape(-1) for n in _TIMES}
    ints = pl.DataFrame(
        {
            "step": np.repeat(step, count),
            "rank": np.tile(np.arange(ranks.start, ranks.stop), window.steps),
            **times,
        }
    )
    return ints.select(
        pl.lit(window.run_id).alias("run_id"),
        pl.lit(window.attempt.number).alias("attempt"),
        pl.all(),
        pl.lit("all").alias("wait_scope"),
        pl.lit("host").alias("clock"),
        pl.lit("rank").alias("scope"),
    )
