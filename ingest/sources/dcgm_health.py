"""JSON of DCGM's checks: `dcgmi health -c -j` and `dcgmi diag -r N -j`.

NVIDIA promises no schema, so both are known by their keys:

* health: `body` holds a tree of groups and devices; what is under `Errors` is a row for
  each system (PCIe, NVLink, memory, ...).
* diag: categories hold tests, tests hold results. Each warning of a result that did not
  pass is a row; a failed result without warnings is one, too.

Neither tells when or on which node it ran, nor which GPU it was but for its number.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._dcgm_reports import diagnosis_events, health_events
from ingest.sources._failure_rows import FailureRows
from ingest.sources._failure_words import fields
from ingest.sources._json_records import Record, json_records
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

_HEALTH: Final = re.compile(r'"(?:Health Monitor Report|Overall Health)"')
_DIAG: Final = re.compile(r'"test_categories"\s*:|"DCGM (?:GPU )?Diagnostic"\s*:')


def recognizes(head: Head) -> bool:
    """Return whether the head has the keys of a health report or of a diagnosis."""
    data = head.text
    is_health = '"body"' in data and bool(_HEALTH.search(data))
    return data.lstrip().startswith("{") and (is_health or bool(_DIAG.search(data)))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read every report in a file."""
    rows = FailureRows(reading)
    for records in json_records(stream, Failures):
        rows.keep(records.refused)
        for record in records.found:
            _take(record, rows)
        yield rows.take(records.seen, records.repairs)


def _take(record: Record, rows: FailureRows) -> None:
    value = record.value
    body = value.get("body")
    for key in ("DCGM Diagnostic", "DCGM GPU Diagnostic"):
        value = fields(value.get(key)) or value
    if isinstance(body, dict):
        events = health_events(body, record.place)
    elif isinstance(value.get("test_categories"), list):
        events = diagnosis_events(value, record.place)
    else:
        rows.refuse(record.place, "test_categories|required", record.raw)
        return
    for event in events:
        rows.add(event)


SOURCE: Final = Source(
    name="dcgm-health",
    version=2,
    describes="DCGM's health checks and diagnoses (dcgmi health -c -j, dcgmi diag -j)",
    tables=(Failures,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
