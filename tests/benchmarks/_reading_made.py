"""Large inputs for the benchmark of reading: an export of Nsight Systems, and a CSV.

python _reading_made.py nsight PATH KERNELS
python _reading_made.py csv PATH ROWS
"""

import csv
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

#: Names of kernels: a training step has some hundreds. [1]
NAMES = 400

#: Start of the session. [ns]
SESSION_NS = 1_779_782_330_176_752_435

#: Process 144, as Nsight serializes it.
PROCESS = (1 << 48) | (144 << 24)

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
  start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
  registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
  gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,
  blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
  start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (
  start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT,
  globalTid INTEGER, textId INTEGER, domainId INTEGER);
"""

#: Kernels of a step. [1]
PER_STEP = 5_000

#: From one kernel to the next. [ns]
GAP_NS = 10_000


def write_nsight(path: Path, kernels: int) -> int:
    """Write kernels with their launches, and the steps that they are in."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA)
        names = [(n, f"void kernel_{n}<float, {n}>(float*, int)") for n in range(NAMES)]
        names[0] = (0, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)")
        insert(database, "StringIds", iter(names))
        start = (SESSION_NS, "2026-05-26T07:58:50")
        insert(database, "TARGET_INFO_SESSION_START_TIME", iter([start]))
        insert(database, "CUPTI_ACTIVITY_KIND_KERNEL", _kernels(kernels))
        insert(database, "CUPTI_ACTIVITY_KIND_RUNTIME", _launches(kernels))
        insert(database, "NVTX_EVENTS", _steps(kernels))
        database.commit()
    return kernels


def insert(
    database: sqlite3.Connection, table: str, rows: Iterator[tuple[object, ...]]
) -> None:
    """Insert rows of one width."""
    first = next(rows)
    statement = f"INSERT INTO {table} VALUES ({', '.join('?' * len(first))})"
    database.execute(statement, first)
    database.executemany(statement, rows)


def _kernels(count: int) -> Iterator[tuple[object, ...]]:
    for n in range(count):
        at, name = n * GAP_NS + 5_000, n % NAMES
        yield (
            *(at, at + 8_000 + n % 7, 0, 1, None, 7 + n % 3, n + 1, PROCESS),
            *(name, name, None, 1, 32, n % 512, 1, 1, 128, 1, 1, 0, None),
        )


def _launches(count: int) -> Iterator[tuple[object, ...]]:
    for n in range(count):
        yield n * GAP_NS, n * GAP_NS + 4_000, 0, PROCESS + 144, n + 1, 3, 0, None


def _steps(count: int) -> Iterator[tuple[object, ...]]:
    length = PER_STEP * GAP_NS
    for step in range(-(-count // PER_STEP)):
        begin = step * length
        yield begin, begin + length, 59, f"iteration {step}", PROCESS + 144, None, 0


def write_csv(path: Path, rows: int) -> int:
    """Write a table of steps of 1,024 ranks."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ["run_id", "step", "rank", "start_ns", "duration_ns", "compute_ns"]
        )
        for n in range(rows):
            step, rank = divmod(n, 1_024)
            start = SESSION_NS + step * 10**9 + rank
            table.writerow(
                ["run", step, rank, start, 900_000_000 + n % 977, 700_000_000]
            )
    return rows


WRITERS: dict[str, Callable[[Path, int], int]] = {
    "nsight": write_nsight,
    "csv": write_csv,
}

if __name__ == "__main__":
    made = WRITERS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps({"rows": made}))
