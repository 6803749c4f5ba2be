"""Rows of failures from documents that a program wrote, one event at a time."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl

from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import Failures
from ingest.xids import UNKNOWN_NAME, XIDS

#: Bounds of what Int64 nanoseconds can hold: year 1677 to 2262. [ns]
_NS_RANGE: Final = range(-(2**63), 2**63)

#: Most lines that an event may count.
_MOST_LINES: Final = 2**63 - 1


class Meaning(NamedTuple):
    """What a code means; the fields are those of Failures."""

    source: str
    code: str
    name: str
    component: str | None
    severity: str | None
    action: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A failure as a source reported it; the fields are those of Failures.

    Attributes:
        place: Where in the file it is.
    """

    place: str
    meaning: Meaning
    message: str
    host: str | None = None
    gpu_key: str | None = None
    time_ns: int | None = None
    end_ns: int | None = None
    inferred: bool = False
    line_count: int = 1
    part: str | None = None


def xid_meaning(code: int) -> Meaning:
    """Return what the catalogue says of an Xid."""
    known = XIDS.get(code)
    if known is None:
        return Meaning("xid", str(code), UNKNOWN_NAME, None, None, None)
    return Meaning(
        "xid", str(code), known.name, known.component, known.severity, known.action
    )


def sxid_meaning(code: int, severity: str) -> Meaning:
    """Return what is known of an error of an NVSwitch without its own words."""
    return Meaning(
        "sxid", str(code), "NVSwitch error", "nvlink", severity, "inspect_nvlink"
    )


class FailureRows:
    """Gathers the events of one file, and counts those that are alike."""

    def __init__(self, reading: Reading) -> None:
        """Start before the first event."""
        self._cluster = reading.cluster
        self._alike: Counter[tuple[object, ...]] = Counter()
        self._events: list[dict[str, object]] = []
        self._refused: list[Refusal] = []

    def add(self, event: Event) -> None:
        """Take an event; what a column cannot hold is left out or cut."""
        time_ns, end_ns = _fits(event.time_ns), _fits(event.end_ns)
        message = event.message[:RAW_CHARACTERS]
        row: dict[str, object] = {
            "host": event.host or None,
            "gpu_key": event.gpu_key or None,
            "source": event.meaning.source,
            "code": event.meaning.code,
            "time_ns": time_ns,
            "message": message,
        }
        alike = tuple(row.values())
        row |= {
            "cluster": self._cluster,
            "time_quality": "unknown" if time_ns is None else "exact",
            "end_ns": end_ns,
            "name": event.meaning.name,
            "component": event.meaning.component,
            "severity": event.meaning.severity,
            "action": event.meaning.action,
            "inferred": event.inferred,
            "line_count": min(max(event.line_count, 1), _MOST_LINES),
            "occurrence": self._alike[alike],
            "part": event.part,
            "place": event.place,
        }
        self._alike[alike] += 1
        self._events.append(row)

    def refuse(self, place: str, rule: str, raw: str, hint: str | None = None) -> None:
        """Keep a record that cannot become a row."""
        self._refused.append(Refusal(Failures, place, rule, raw, hint))

    def keep(self, refused: list[Refusal]) -> None:
        """Keep records that were refused before."""
        self._refused.extend(refused)

    def take(self, records: int, repairs: int) -> Batch:
        """Return what was gathered since the last time.

        Args:
            records: Records seen since then. [1]
            repairs: Repairs that reading them needed. [1]
        """
        refused, self._refused = tuple(self._refused), []
        events, self._events = self._events, []
        if not events:
            return Batch(refused=refused, records=records, repairs=repairs)
        types = pl.Schema(Failures) | {"place": pl.String()}
        frame = pl.DataFrame(
            {name: [row[name] for row in events] for name in events[0]},
            schema={name: types[name] for name in events[0]},
        )
        return Batch({Failures: frame}, refused, records, repairs)


def _fits(time_ns: int | None) -> int | None:
    return time_ns if time_ns is not None and time_ns in _NS_RANGE else None
