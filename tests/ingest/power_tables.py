"""Tables of power, written in three encodings."""

import io
import json
from typing import Any

import polars as pl

from ingest import _rules
from ingest.sources import Batch, power_table
from ingest.tables import PowerSamples
from tests.ingest.readings import reading, refused

#: An instant that no float64 holds. [ns]
TIME = 1_700_000_000_123_456_789

ENCODINGS = ("csv", "jsonl", "parquet")
WATTS = "power_average_w"


def read(data: bytes) -> list[Batch]:
    return list(power_table.read(io.BytesIO(data), reading()))


def encode(written: list[dict[str, Any]], encoding: str) -> bytes:
    if encoding == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in written).encode()
    frame = pl.DataFrame(written, infer_schema_length=None)
    if encoding == "csv":
        return frame.write_csv().encode()
    return parquet(frame)


def parquet(frame: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


def sample(**fields: Any) -> dict[str, Any]:
    return {"gpu_uuid": "GPU-a", "time_ns": TIME, WATTS: 612.4} | fields


def broken(batches: list[Batch]) -> list[tuple[str, str]]:
    """Return place and rule of what the reader or the table refuses."""
    found = refused(batches)
    for batch in batches:
        offered = _rules.complete(PowerSamples, batch.rows[PowerSamples], "f", 0)
        records = _rules.check(PowerSamples, offered).refused
        found += records.select("place", "rule").rows()
    return found
