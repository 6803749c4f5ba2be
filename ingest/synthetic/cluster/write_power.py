"""Recorded power as Parquet files, some neighbouring GPUs in each."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import polars as pl

from ingest.synthetic.cluster._power_frame import PowerFrames
from ingest.synthetic.cluster.power import Recorded
from ingest.times import day_name

__all__ = ["PowerFrames", "write_power_parquet"]

#: Rows of a row group at most. [1]
GROUP_ROWS: Final = 1 << 20

#: Of row groups: they cost a fifth of the time, and files are known by their nodes.
_STATISTICS: Final = False

#: Files that are made at once.
_THREADS: Final = 2

#: Packing: small and quick to read.
_LEVEL: Final = 1


def write_power_parquet(
    folder: Path, frames: PowerFrames, recorded: Iterable[Recorded]
) -> int:
    """Write a file for some GPUs of a day each; return the rows. [1]

    They are in the order of host, GPU and time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for one in recorded:
        with ThreadPoolExecutor(_THREADS) as threads:
            made = threads.map(lambda make: _write(folder, make()), frames.makers(one))
            written += sum(made)
    return written


def _write(folder: Path, frame: pl.DataFrame) -> int:
    """Write the rows of some GPUs and return how many they are."""
    if frame.is_empty():
        return 0
    hosts = frame["host"]
    day = day_name(frame["time_ns"][0])
    path = folder / f"power-{day}-{hosts[0]}-{hosts[-1]}.parquet"
    frame.write_parquet(
        path,
        compression="zstd",
        compression_level=_LEVEL,
        row_group_size=GROUP_ROWS,
        statistics=_STATISTICS,
    )
    return frame.height
