"""Read a trace, measure its overlap and, where asked, of which groups; print as JSON.

Run as a program of its own, so that its peak of memory is its own.
"""

import json
import sys
import tempfile
import time
from datetime import UTC
from pathlib import Path
from typing import Final

import polars as pl
from _peak import peak_mb  # type: ignore[import-not-found]

from analysis import Frames
from analysis.attempts import Attempts
from analysis.overlap import Overlap, measure_overlap
from analysis.overlap_groups import measure_groups
from ingest.files import open_expanded
from ingest.sources import Reading
from ingest.sources.kineto import read
from ingest.tables import Collectives, Kernels, Table

TABLES: Final[tuple[type[Table], ...]] = (Kernels, Collectives)


def main(trace: Path, *, groups: bool) -> None:
    """Read, keep as Parquet as the lake does, and measure."""
    with tempfile.TemporaryDirectory() as folder:
        frames = read_work(trace, Path(folder))
        began = time.process_time()
        no_attempts = Attempts.create_empty().lazy()
        overlap = measure_overlap(Kernels.cast(frames[Kernels]), no_attempts)
        measured = time.process_time()
        rows = 0
        if groups:
            frames[Overlap] = overlap.lazy()
            rows = measure_groups(Frames(frames))[0].height
        ended = time.process_time()
    told = {
        "overlap_s": measured - began,
        "groups_s": ended - measured,
        "peak_mb": peak_mb(),
        "rows": rows,
    }
    sys.stdout.write(json.dumps(told))


def read_work(trace: Path, folder: Path) -> dict[type[Table], pl.LazyFrame]:
    """Write kernels and collectives of a trace to Parquet, a file for each batch."""
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
            for table in TABLES:
                if table in batch.rows:
                    path = folder / f"{table.sql_name()}-{number}.parquet"
                    write(table, batch.rows[table], path)
    return {t: pl.scan_parquet(folder / f"{t.sql_name()}-*.parquet") for t in TABLES}


def write(table: type[Table], rows: pl.DataFrame, path: Path) -> None:
    """Write rows of a file as its table declares them."""
    empty = table.create_empty()
    told = rows.drop("place").with_columns(
        file_id=pl.lit("0123456789abcdef"), attempt=pl.lit(0, pl.Int32)
    )
    whole = pl.concat([empty, told], how="diagonal").select(empty.columns)
    whole.write_parquet(path, compression="lz4")


if __name__ == "__main__":
    main(Path(sys.argv[1]), groups=sys.argv[2] == "groups")
