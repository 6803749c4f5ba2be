"""What RAS tells in its polls and in its events: when, of whom, in which state."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from ingest.sources._flight.values import text_of

#: What a host is called that the network does not know.
_UNKNOWN_HOST: Final = "unknown"

Row = dict[str, Any]


@dataclass(slots=True)
class Poll:
    """One document.

    Attributes:
        dump_id: Its identity.
        place: Where it is in the file.
        time: When it was written, by a clock of its zone.
    """

    dump_id: str
    place: str
    time: datetime | None


def stamp_of(stamp: object, zone: tzinfo) -> datetime | None:
    """Return a local stamp in seconds; None where it is none, or its zone skips it."""
    try:
        naive = datetime.fromisoformat((text_of(stamp) or "").strip())
        if naive.tzinfo is not None:
            return None
        moment = naive.replace(tzinfo=zone).astimezone(UTC)
        is_there = moment.astimezone(zone).replace(tzinfo=None) == naive
    except (ValueError, OverflowError):
        return None
    return naive if is_there else None


def host_of(told: Mapping[str, object]) -> str | None:
    """Return the host of a rank or a process, an address."""
    host = text_of(told.get("host")) or text_of(told.get("addr"))
    return None if host == _UNKNOWN_HOST else host


def state_of(rank: Mapping[str, object]) -> str:
    """Return the state of a rank that gave no answer."""
    status = rank.get("status")
    told = status if isinstance(status, dict) else rank
    if told.get("considered_dead") is True:
        return "dead"
    return "unresponsive" if told.get("unresponsive") is True else "missing"


def objects_of(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; what is no object is told by nothing."""
    listed = value if isinstance(value, list) else []
    return [item for item in listed if isinstance(item, dict)]
