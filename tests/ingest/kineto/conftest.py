"""Traces written by hand, and what reading them gives."""

import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import polars as pl
import pytest

from ingest.sources import Reading, Refusal
from ingest.sources.kineto import read
from ingest.tables import Collectives, Kernels, StepTimings, Table

#: An event as JSON.
Event = Mapping[str, object]


@dataclass
class Rows:
    """Everything that was read of a trace, checked against the tables' rules."""

    tables: dict[type[Table], pl.DataFrame]
    refused: list[Refusal] = field(default_factory=list)
    records: int = 0
    repairs: int = 0

    @property
    def kernels(self) -> pl.DataFrame:
        """Kernels in the order of the trace."""
        return self.tables[Kernels].sort("event")

    @property
    def collectives(self) -> pl.DataFrame:
        """Collectives in the order of the trace."""
        return self.tables[Collectives].sort("event")

    @property
    def steps(self) -> pl.DataFrame:
        """Steps in the order of time."""
        return self.tables[StepTimings].sort("start_ns")

    @property
    def rules(self) -> list[str]:
        """Rules that were broken."""
        return [one.rule for one in self.refused]


ReadTrace = Callable[..., Rows]


@pytest.fixture(scope="session")
def read_trace() -> ReadTrace:
    """Read a trace: bytes, a path, or what is to be written as JSON."""

    def read_it(
        trace: bytes | Path | Mapping[str, object] | Sequence[object],
        name: str = "trace.json",
    ) -> Rows:
        if isinstance(trace, Path):
            name, trace = trace.name.removesuffix(".gz"), trace.read_bytes()
        elif not isinstance(trace, bytes):
            trace = json.dumps(trace).encode()
        if trace.startswith(b"\x1f\x8b"):
            trace = gzip.decompress(trace)
        return _collect(trace, name)

    return read_it


def _collect(content: bytes, name: str) -> Rows:
    reading = Reading(
        path=name,
        name=name,
        file_id="0123456789abcdef" * 2,
        zone=UTC,
        zone_basis="assumed",
        run_id="run",
        run_id_basis="folder",
        cluster="cluster",
        modified_ns=0,
    )
    frames: dict[type[Table], list[pl.DataFrame]] = {
        table: [table.create_empty()] for table in (Kernels, Collectives, StepTimings)
    }
    rows = Rows({})
    for batch in read(io.BytesIO(content), reading):
        for table, frame in batch.rows.items():
            frames[table].append(_checked(table, frame, reading.file_id))
        rows.refused += batch.refused
        rows.records += batch.records
        rows.repairs += batch.repairs
    rows.tables = {table: pl.concat(parts) for table, parts in frames.items()}
    return rows


def _checked(table: type[Table], frame: pl.DataFrame, file_id: str) -> pl.DataFrame:
    """Add what the writer adds; types and rules must be right without it."""
    assert len(frame)
    assert frame["place"].null_count() == 0
    lacking = {
        name: pl.lit(None, column.dtype)
        for name, column in table.columns().items()
        if name not in frame.columns
    }
    whole = frame.with_columns(**lacking | {"file_id": pl.lit(file_id)})
    return table.validate(whole.select(table.column_names()))


@pytest.fixture(scope="session")
def kernel() -> Callable[..., Event]:
    """Write a kernel that runs from `ts` for `dur` microseconds."""

    def write(
        ts: object, dur: object, name: str = "gemm", cat: str = "kernel", **args: object
    ) -> Event:
        told: dict[str, object] = {"device": 0, "stream": 7, **args}
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 0,
            "tid": 7,
            "ts": ts,
            "dur": dur,
            "args": {key.replace("_", " "): value for key, value in told.items()},
        }

    return write
