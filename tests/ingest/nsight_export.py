"""Small exports of Nsight Systems: the tables of schema 3.25, with rows as they come.

    python -m tests.ingest.nsight_export sample.sqlite

writes the sample of the format: two steps of one process on one GPU.
"""

import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

#: When the sessions began. [ns]
SESSION_NS: Final = 1_779_782_330_176_752_435

#: Process 144 of the first machine, as Nsight serializes it.
PID: Final = 144
PROCESS: Final = (1 << 48) | (PID << 24)

#: Columns in the order of the schema, those that a reader may want.
SCHEMA: Final[MappingProxyType[str, str]] = MappingProxyType(
    {
        "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
        "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT,"
        " localTime TEXT, systemClockNs INTEGER",
        "TARGET_INFO_SYSTEM_ENV": "globalVid INTEGER, devStateName TEXT NOT NULL,"
        " name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL",
        "TARGET_INFO_CUDA_DEVICE": "gpuId INTEGER NOT NULL, cudaId INTEGER NOT NULL,"
        " pid INTEGER NOT NULL, uuid TEXT, numMultiprocessors INTEGER NOT NULL",
        "META_DATA_CAPTURE": "name TEXT NOT NULL, value TEXT",
        "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
        "CUPTI_ACTIVITY_KIND_KERNEL": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
        " deviceId INTEGER NOT NULL, contextId INTEGER, streamId INTEGER NOT NULL,"
        " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,"
        " shortName INTEGER NOT NULL, mangledName INTEGER, gridX INTEGER,"
        " graphNodeId INTEGER",
        "CUPTI_ACTIVITY_KIND_MEMCPY": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
        " deviceId INTEGER NOT NULL, contextId INTEGER, streamId INTEGER NOT NULL,"
        " correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,"
        " copyKind INTEGER NOT NULL",
        "CUPTI_ACTIVITY_KIND_MEMSET": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
        " deviceId INTEGER NOT NULL, contextId INTEGER, streamId INTEGER NOT NULL,"
        " correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start INTEGER NOT NULL,"
        " end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER,"
        " streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,"
        " graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL",
        "CUPTI_ACTIVITY_KIND_RUNTIME": "start INTEGER NOT NULL, end INTEGER NOT NULL,"
        " eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,"
        " nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
        "NVTX_EVENTS": "start INTEGER NOT NULL, end INTEGER,"
        " eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, textId INTEGER,"
        " domainId INTEGER, binaryData BLOB",
    }
)

Row = Mapping[str, Any]


class Export:
    """The rows of an export, in the order in which they are added."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}
        self._strings: dict[str, int] = {}
        self._correlation = 0
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=SESSION_NS)

    def add(self, table: str, **row: Any) -> None:
        self.rows.setdefault(table, []).append(row)

    def string(self, value: str) -> int:
        if value not in self._strings:
            self._strings[value] = len(self._strings) + 100
            self.add("StringIds", id=self._strings[value], value=value)
        return self._strings[value]

    def work(
        self,
        table: str,
        start: Any,
        end: Any,
        *,
        launched: int | None = None,
        process: int = PROCESS,
        **told: Any,
    ) -> None:
        """Add work of a GPU and, where it has one, the call that launched it."""
        row: dict[str, Any] = {"deviceId": 0, "streamId": 7, "globalPid": process}
        if launched is not None:
            self._correlation += 1
            row["correlationId"] = self._correlation
            self.add(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                start=launched,
                end=launched + 5,
                eventClass=0,
                globalTid=process + PID,
                correlationId=self._correlation,
                nameId=self.string("cudaLaunchKernel_v7000"),
                returnValue=0,
            )
        name = f"CUPTI_ACTIVITY_KIND_{table}"
        self.add(name, start=start, end=end, **row | told)

    def kernel(self, start: Any, end: Any, name: str = "gemm", **told: Any) -> None:
        short = self.string(name.partition("(")[0])
        named = {"demangledName": self.string(name), "shortName": short}
        self.work("KERNEL", start, end, **named | told)

    def range(
        self, start: int, end: int | None, text: str, process: int = PROCESS
    ) -> None:
        """Add a range that the program marked."""
        told = {"text": text, "globalTid": process + PID, "eventType": 59}
        self.add("NVTX_EVENTS", start=start, end=end, **told)

    def write(
        self, path: Path, schema: Mapping[str, str] = SCHEMA, *after: str
    ) -> bytes:
        """Write the tables of a schema, run statements, and return the file."""
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA page_size = 1024")
            for table, columns in schema.items():
                database.execute(f"CREATE TABLE {table} ({columns})")
                for row in self.rows.get(table, []):
                    _insert(database, table, row, columns)
            for statement in after:
                database.execute(statement)
            database.commit()
        return path.read_bytes()


def _insert(database: sqlite3.Connection, table: str, row: Row, columns: str) -> None:
    known = {one.split()[0] for one in columns.split(",")}
    named = {name: value for name, value in row.items() if name in known}
    others: Sequence[str] = [
        one.split()[0]
        for one in columns.split(",")
        if "NOT NULL" in one and one.split()[0] not in named
    ]
    complete = named | dict.fromkeys(others, 0)
    names = ", ".join(f'"{name}"' for name in complete)
    marks = ", ".join("?" * len(complete))
    database.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})",
        list(complete.values()),
    )


def sample() -> Export:
    """Two steps of one process on one GPU.

    us  0    10   20   30   40   50   60   70   80   90   100
        |-------- iteration 10 ------||----- iteration 11 ------|
              gemm 12-30     nccl 25-45         graph 60-80
           copy 5-8                          set 55-56   nccl 78-90
    """
    export = Export()
    reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)"
    export.range(0, 50_000, "iteration 10")
    export.range(50_000, 100_000, "iteration 11")
    export.range(1_000, 2_000, "data loading")
    export.work("MEMCPY", 5_000, 8_000, launched=2_000, copyKind=1, bytes=4_096)
    export.kernel(12_000, 30_000, "void gemm<128, 64>(float*)", launched=10_000)
    export.kernel(25_000, 45_000, reduce, launched=11_000, streamId=20)
    export.work("MEMSET", 55_000, 56_000, launched=52_000, bytes=1_024)
    graph = {"graphId": 3, "graphExecId": 4}
    export.work("GRAPH_TRACE", 60_000, 80_000, launched=58_000, **graph)
    export.kernel(78_000, 90_000, reduce, launched=61_000, streamId=20)
    export.add("TARGET_INFO_CUDA_DEVICE", gpuId=3, cudaId=0, pid=PID)
    export.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.25.0")
    return export


if __name__ == "__main__":
    sample().write(Path(sys.argv[1]))
