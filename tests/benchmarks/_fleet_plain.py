"""What the stages of _fleet_ours.py are compared with; print what it took as JSON.

python _fleet_plain.py scan FOLDER      every numeric column of Parquet files summed
python _fleet_plain.py copy FOLDER      the files read and written by pyarrow
python _fleet_plain.py write FOLDER     their rows written by Polars, read before
python _fleet_plain.py draw ROWS        a normal number drawn for each row
python _fleet_plain.py csv FOLDER       every cell decoded
python _fleet_plain.py jsonl FOLDER     every value decoded
python _fleet_plain.py results LAKE     result tables read whole
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from _peak import peak_mb  # type: ignore[import-not-found]
from polars import selectors

Work = Callable[[], object]

NUMBERS = 1 << 20


def files(folder: str, end: str) -> list[Path]:
    """Return the files of a kind under a folder."""
    return sorted(Path(folder).rglob(f"*.{end}"))


def scan(folder: str) -> Work:
    """Sum every numeric column."""
    frame = pl.scan_parquet(files(folder, "parquet"))
    return lambda: frame.select(selectors.numeric().sum()).collect(engine="streaming")


def copy(folder: str) -> Work:
    """Read and write with pyarrow, a file at a time."""

    def work() -> None:
        with tempfile.TemporaryDirectory() as target:
            for path in files(folder, "parquet"):
                table = pq.read_table(path)
                pq.write_table(table, Path(target) / path.name, compression="zstd")

    return work


def write(folder: str) -> Work:
    """Write rows that are there with Polars as it does by itself."""
    frame = pl.concat(pl.read_parquet(path) for path in files(folder, "parquet"))

    def work() -> None:
        with tempfile.TemporaryDirectory() as target:
            frame.write_parquet(Path(target) / "one.parquet")

    return work


def draw(rows: str) -> Work:
    """Draw a normal number for each row."""
    generator = np.random.default_rng(1)

    def work() -> None:
        for first in range(0, int(rows), NUMBERS):
            generator.standard_normal(min(NUMBERS, int(rows) - first))

    return work


def text(folder: str, end: str) -> Work:
    """Decode every cell of text files, one after the other."""
    read = pl.read_csv if end == "csv" else pl.read_ndjson
    return lambda: [read(path).height for path in files(folder, end)]


def results(lake: str) -> Work:
    """Read what the catalog shows of results."""
    paths = files(lake, "parquet")
    found = [path for path in paths if path.stat().st_size < 1 << 20]
    return lambda: [pl.read_parquet(path).height for path in found]


WORK: dict[str, Callable[[str], Work]] = {
    "scan": scan,
    "copy": copy,
    "write": write,
    "draw": draw,
    "csv": lambda folder: text(folder, "csv"),
    "jsonl": lambda folder: text(folder, "jsonl"),
    "results": results,
}


def main(what: str, given: str) -> None:
    """Do one thing twice, the first time to bring the files into memory."""
    work = WORK[what](given)
    work()
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    told = {
        "total_s": time.perf_counter() - began,
        "cpu_s": time.process_time() - cpu_began,
        "peak_mb": peak_mb(),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
