"""Logs of nvidia-smi --query-gpu, made and read."""

import io
from collections.abc import Iterable
from typing import Any

from ingest.sources import Batch, Reading, nvidia_smi
from ingest.tables import PowerSamples
from tests.ingest.readings import held, reading, rows

HEADER = "timestamp, uuid, power.draw [W]"
NOON = "2023/07/14 12:00:00.000"


def read(*lines: str, told: Reading | None = None) -> list[Batch]:
    text = "".join(f"{line}\n" for line in lines)
    return held(nvidia_smi.read(io.BytesIO(text.encode()), told or reading()))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)


def one(header: str, line: str, told: Reading | None = None) -> dict[str, Any]:
    """Return the only sample of a log of one line."""
    (row,) = samples(read(header, line, told=told))
    return row
