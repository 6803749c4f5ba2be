"""Tables of power, written in three encodings."""

import io
from typing import Any

from ingest import _rules
from ingest.sources import Batch, power_table
from ingest.tables import PowerSamples
from tests.ingest.readings import reading, refused

#: An instant that no float64 holds. [ns]
TIME = 1_700_000_000_123_456_789

WATTS = "power_average_w"


def read(data: bytes) -> list[Batch]:
    return list(power_table.read(io.BytesIO(data), reading()))


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
