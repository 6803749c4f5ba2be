"""Read a trace and measure its overlap; print what that took as JSON.

Run as a program of its own, so that its peak of memory is its own.
"""

import json
import sys
import tempfile
import time
from datetime import UTC
from pathlib import Path

import polars as pl
from _peak import peak_mb  # type: ignore[import-not-found]

from analysis.attempts import Attempts
from analysis.overlap import measure_overlap
from ingest.files import open_expanded
from ingest.sources import Reading
from ingest.sources.kineto import read
from ingest.tables import Kernels


def main(trace: Path) -> None:
    """Read, keep as Parquet as the lake does, and measure."""
    began, cpu_began = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        kernels = read_kernels(trace, Path(folder))
        read_at = time.perf_counter()
        no_attempts = Attempts.create_empty().lazy()
        overlap = measure_overlap(Kernels.cast(kernels), no_attempts)
    ended, cpu_ended = time.perf_counter(), time.process_time()
    whole = overlap.filter(pl.col("step").is_null())
    told = {
        "parse_s": read_at - began,
        "total_s": ended - began,
        "cpu_s": cpu_ended - cpu_began,
        "peak_mb": peak_mb(),
        "overlap_percent": 100 * whole["overlap_ratio"][0],
        "kernels": whole.select(pl.sum_horizontal("^.*_count$")).item(),
    }
    sys.stdout.write(json.dumps(told))


def read_kernels(trace: Path, folder: Path) -> pl.LazyFrame:
    """Write the kernels of a trace to Parquet, a file for each batch."""
    reading = Reading(
        path=str(trace),
        name=trace.name,
        file_id="0123456789abcdef",
        zone=UTC,
        zone_basis="assumed",
        run_id="run",
        run_id_basis="option",
        cluster="cluster",
        modified_ns=0,
    )
    with open_expanded(trace) as stream:
        for number, batch in enumerate(read(stream, reading)):
            if Kernels in batch.rows:
                rows = (
                    batch.rows[Kernels]
                    .drop("place")
                    .with_columns(
                        file_id=pl.lit(reading.file_id), attempt=pl.lit(0, pl.Int32)
                    )
                )
                path = folder / f"{number}.parquet"
                rows.select(Kernels.column_names()).write_parquet(
                    path, compression="lz4"
                )
    return pl.scan_parquet(folder / "*.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
