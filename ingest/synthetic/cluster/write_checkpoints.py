"""Checkpoints of a generated run: training events of DLRover, or a table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from ingest.synthetic.cluster.steps import StepWindow

#: How long a save takes until it is done, over its stall: the rest is written in the
#: background. [1]
_DONE_AFTER = 4

#: Process that tells of them.
_HEAD = "] [426] ["

_STAMP = "%Y-%m-%dT%H:%M:%S%.6f"


class CheckpointLog:
    """Collects the checkpoints of the steps that go by."""

    def __init__(self) -> None:
        """Begin with none."""
        self._saves: list[pl.DataFrame] = []

    def take(self, window: StepWindow) -> None:
        """Collect the checkpoints of a window: one for all ranks."""
        stall = window.checkpoint[:, 0]
        (saved,) = np.nonzero(stall)
        ended = window.start[saved, 0] + window.duration[saved, 0]
        begun = ended - stall[saved]
        self._saves.append(
            pl.DataFrame(
                {
                    "step": window.first_step + saved,
                    "attempt": np.full(len(saved), window.attempt.number),
                    "BEGIN": begun,
                    "END": begun + _DONE_AFTER * stall[saved],
                    "stall_ns": stall[saved],
                }
            )
        )

    def write_table(self, path: Path, run_id: str) -> int:
        """Write them as a table with the lake's columns; return how many. [1]"""
        if not any(one.height for one in self._saves):
            return 0
        saves = (
            pl.concat(self._saves)
            .sort("attempt", "step")
            .select(
                pl.lit(run_id).alias("run_id"),
                "attempt",
                pl.lit("save").alias("kind"),
                "step",
                pl.col("BEGIN").alias("start_ns"),
                (pl.col("END") - pl.col("BEGIN")).alias("duration_ns"),
                "stall_ns",
                pl.col("END").alias("durable_ns"),
            )
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        saves.write_parquet(path)
        return saves.height

    def write(self, path: Path) -> int:
        """Write what the trainer logs of them, and return how many. [1]"""
        if not any(one.height for one in self._saves):
            return 0
        saves = pl.concat(self._saves).with_row_index("number")
        lines = pl.concat([*_lines(saves)]).sort("time_ns", "number")
        path.parent.mkdir(parents=True, exist_ok=True)
        lines.select("line").write_csv(path, include_header=False, quote_style="never")
        return saves.height


def _lines(saves: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the lines of the beginnings, then those of the ends."""
    for kind in ("BEGIN", "END"):
        stamp = pl.from_epoch(pl.col(kind) // 1_000, "us").dt.strftime(_STAMP)
        yield saves.select(
            "number",
            time_ns=kind,
            line=pl.concat_str(
                pl.lit("["),
                stamp,
                pl.lit(_HEAD),
                pl.lit("save-"),
                "attempt",
                pl.lit("-"),
                "step",
                pl.lit(f'] [AtorchTrainerV2] [#save] [{kind}] {{"global_step": '),
                "step",
                pl.lit("}"),
            ),
        )
