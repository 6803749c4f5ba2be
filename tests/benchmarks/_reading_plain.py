"""Decode the same columns of a file plainly and do nothing with them; print as JSON.

SQLite is fetched with sqlite3, a block of rows at a time; CSV is scanned with Polars in
its streaming engine, and the columns are only counted, so that all of it is decoded.
"""

import json
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import polars as pl
from _peak import peak_mb  # type: ignore[import-not-found]

#: Rows fetched at a time, as reading does. [1]
BATCH_ROWS = 1 << 11

#: The columns that reading asks for, of each table.
COLUMNS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": 'start, "end", deviceId, streamId, correlationId,'
    " globalPid, demangledName",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, correlationId, globalTid",
    "StringIds": "id, value",
    "NVTX_EVENTS": 'start, "end", globalTid, textId, text',
}


def fetch(path: Path) -> int:
    """Fetch the columns that reading fetches."""
    rows = 0
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        for table, columns in COLUMNS.items():
            cursor = database.execute(f"SELECT {columns} FROM {table}")
            while block := cursor.fetchmany(BATCH_ROWS):
                rows += len(block)
    return rows


def scan(path: Path) -> int:
    """Decode every cell."""
    counts = pl.scan_csv(path).select(pl.all().max(), rows=pl.len())
    return int(counts.collect(engine="streaming")["rows"].item())


def main(path: Path) -> None:
    """Decode a file by what it is."""
    began, cpu_began = time.perf_counter(), time.process_time()
    rows = scan(path) if path.suffix == ".csv" else fetch(path)
    ended, cpu_ended = time.perf_counter(), time.process_time()
    told = {
        "total_s": ended - began,
        "cpu_s": cpu_ended - cpu_began,
        "peak_mb": peak_mb(),
        "rows": rows,
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
