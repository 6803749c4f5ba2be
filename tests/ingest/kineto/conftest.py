"""Traces written by hand, and what reading them gives."""

import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ingest.sources import Reading, Refusal
from ingest.sources._kineto.blocks import Blocks
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.window import Window
from ingest.sources.kineto import read
from ingest.tables import Collectives, Kernels, StepTimings, Table


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


class Write:
    """Events as Kineto writes them. [us]"""

    @staticmethod
    def kernel(
        ts: object, dur: object, name: str = "gemm", cat: str = "kernel", **args: object
    ) -> dict[str, Any]:
        """Write work on a GPU; an argument's `_` stands for a space."""
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

    @staticmethod
    def launch(ts: float, correlation: int, **args: object) -> dict[str, Any]:
        """Write the call that launches the work of a correlation."""
        return {
            "ph": "X",
            "cat": "cuda_runtime",
            "name": "cudaLaunchKernel",
            "ts": ts,
            "dur": 2,
            "args": {"correlation": correlation, **args},
        }

    @staticmethod
    def step(
        number: int, ts: float, dur: float, cat: str = "user_annotation"
    ) -> dict[str, Any]:
        """Write the annotation of a step."""
        name = f"ProfilerStep#{number}"
        return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur}

    @staticmethod
    def window(dur: float) -> dict[str, Any]:
        """Write the span of profiling."""
        return {"ph": "X", "cat": "Trace", "name": "Profiler", "ts": 0, "dur": dur}


@pytest.fixture(scope="session")
def write() -> type[Write]:
    """Write events."""
    return Write


@dataclass
class Read:
    """Names of events, and what became of the rest."""

    names: list[str]
    refused: list[Refusal]
    repairs: int
    closed: bool
    rest: bytes

    @property
    def rules(self) -> list[str]:
        """Rules that were broken."""
        return [one.rule for one in self.refused]


@pytest.fixture(scope="session")
def read_blocks() -> Callable[..., Read]:
    """Read what follows the bracket that opens the events, in blocks of some size."""

    def read_it(text: bytes, block_bytes: int, *, in_object: bool = True) -> Read:
        losses = Losses()
        window = Window(io.BytesIO(text), block_bytes)
        blocks = Blocks(window, losses, in_object=in_object)
        names = [event.name for block in blocks for event in block.events]
        while not window.ended:
            window.fill()
        rest = bytes(window.data[window.start : window.end])
        return Read(names, losses.refused, losses.repairs, blocks.closed, rest)

    return read_it
