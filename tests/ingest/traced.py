"""A format that gives a kernel beside the steps of a few characters a line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl

from ingest.sources import Batch, Reading
from ingest.staging import Candidate
from ingest.tables import Kernels
from tests.ingest import tiny


def _read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    kernel = pl.DataFrame(
        {
            "run_id": ["r"],
            "trace_id": [reading.name],
            "device": [0],
            "stream": [7],
            "start_ns": [1],
            "event": [1],
            "name": ["k"],
            "category": ["compute"],
            "duration_ns": [1],
            "linked": [True],
        }
    )
    yield Batch(rows={Kernels: kernel}, records=1)
    yield from tiny.read(stream, reading)


TRACED = replace(tiny.TINY, name="traced", read=_read)


def traced_candidate(path: Path) -> Candidate:
    return tiny.candidate(path, source=TRACED)
