"""JSON of the `Power` resource of Redfish: power of a whole node, by its BMC.

* `PowerControl[0].PowerConsumedWatts` is what the chassis draws: level `node_ac`, above
  the sum of its GPUs and never added to it. Further members are parts of it.
* `PowerInputWatts` of a supply may be its rating and `PowerLimit` none: of a supply
  nothing is read, and a limit only where it is a number.
* `PowerMetrics` are over minutes, no mean over a second: they are not stored.
* The resource has no time: only a file with one look has one, that of the file (see
  _power.untimed).
* The node is that of the name of the file (_power.names), the device the path of the
  chassis, which is the same in each node.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import blocks
from ingest.sources._power.amd import at, cell
from ingest.sources._power.fields import UUID
from ingest.sources._power.json import JsonDocument, JsonDocuments
from ingest.sources._power.rows import NO_TIME, batch, samples
from ingest.sources._power.untimed import Untimed
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import PowerSamples

_TYPE: Final = re.compile(r'"@odata\.type"\s*:\s*"#Power\.')
_CONSUMED: Final = re.compile(r'"PowerConsumedWatts"\s*:')

_UNITS: Final = {UUID: "", "power.draw.instant": "W", "enforced.power.limit": "W"}

_COLUMNS: Final = ("place", "line", "rule", *_UNITS)

_HINTS: Final = {NO_TIME: "the resource has no time: keep a file for each look"}


def recognizes(head: Head) -> bool:
    """Return whether the head is of a resource with the power that is consumed."""
    text = head.text
    is_power = _TYPE.search(text) is not None or '"PowerControl"' in text
    return is_power and _CONSUMED.search(text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read resources."""
    documents, untimed = JsonDocuments(), Untimed(reading)
    for block in blocks(stream):
        yield Batch(repairs=block.repairs)
        yield from _batches(documents.read(block), untimed, reading)
    yield from _batches(documents.close(), untimed, reading)
    for cells, units in untimed.rest():
        yield batch(samples(cells, units, reading, "node_ac"), 0, hints=_HINTS)


def _batches(
    documents: Iterator[JsonDocument | Refusal], untimed: Untimed, reading: Reading
) -> Iterator[Batch]:
    found: list[dict[str, str | None]] = []
    refused: list[Refusal] = []
    repairs = 0
    for document in documents:
        if isinstance(document, Refusal):
            refused.append(document)
        else:
            repairs += document.repairs
            found += _cells(document)
    records = len(found) + len(refused)
    yield Batch(refused=tuple(refused), records=records, repairs=repairs)
    cells = pl.DataFrame(found, schema=dict.fromkeys(_COLUMNS, pl.String))
    for told, units in untimed.place(cells, _UNITS):
        yield batch(samples(told, units, reading, "node_ac"), 0, hints=_HINTS)


def _cells(document: JsonDocument) -> Iterator[dict[str, str | None]]:
    """Yield what the first member of the resource says; nothing without one."""
    members = at(document.value, ("PowerControl",))
    first = members[0] if isinstance(members, list) and members else None
    if not isinstance(first, dict):
        return
    watts = cell(first.get("PowerConsumedWatts"))
    yield {
        "place": f"line {document.line}",
        "line": f"PowerConsumedWatts={watts}",
        "rule": None if watts else f"{PowerSamples.power_instant_w.name}|required",
        UUID: cell(at(document.value, ("@odata.id",))) or "node",
        "power.draw.instant": watts,
        "enforced.power.limit": cell(at(first, ("PowerLimit", "LimitInWatts"))),
    }


SOURCE: Final = Source(
    name="redfish",
    version=2,
    describes="JSON of the Redfish resource Power",
    tables=(PowerSamples,),
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
