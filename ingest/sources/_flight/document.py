"""The document of a Flight Recorder dump, from a pickle or from JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ingest.sources._flight.pickle_plain import load_plain
from ingest.sources._flight.pickle_scan import Fault
from ingest.sources._flight.values import text_of
from ingest.sources._json_whole import NotJsonError, decode_whole

#: Largest dump that is read. Its buffer of 2,000 entries takes some MB with stacks, and
#: a document takes about ten times its size in memory. [B]
MOST_BYTES: Final = 256 * 1024 * 1024

#: Entries of the largest dump that is read. A buffer holds 2,000 unless it is told
#: otherwise; a pickle may name one entry as often as it likes, in two bytes each. [1]
MOST_ENTRIES: Final = 1_000_000

#: Version from which on the sizes of an all-to-all are those of the message.
ALLTOALL_SIZES: Final = (2, 4)

#: What a dump has at least one of.
_PARTS: Final = ("entries", "pg_status", "pg_config")


@dataclass(frozen=True, slots=True)
class Document:
    """A dump.

    Attributes:
        version: Version of its format, (2, 10) after (2, 9); empty where unknown.
        groups: By the name of a group, what is told of it.
        statuses: By the number that the rank gave a group, how far it got.
        entries: Collectives that the rank asked for last, the oldest first.
        repairs: Repairs that reading needed. [1]
    """

    version: tuple[int, ...]
    groups: Mapping[object, object]
    statuses: Mapping[object, object]
    entries: list[object]
    repairs: int


def document_of(data: bytes) -> Document | Fault:
    """Read a dump."""
    loaded = _json(data) if _is_json(data) else _pickle(data)
    if isinstance(loaded, Fault):
        return loaded
    value, repairs = loaded
    if not isinstance(value, dict) or not any(part in value for part in _PARTS):
        known = ", ".join(_PARTS)
        return Fault("dump|required", 0, f"no Flight Recorder dump: none of {known}")
    entries = value.get("entries")
    if isinstance(entries, list) and len(entries) > MOST_ENTRIES:
        hint = f"{len(entries)} entries; at most {MOST_ENTRIES} are read"
        return Fault("entries|most", 0, hint)
    return Document(
        version=version_of(value.get("version")),
        groups=_mapping(value.get("pg_config")),
        statuses=_mapping(value.get("pg_status")),
        entries=entries if isinstance(entries, list) else [],
        repairs=repairs,
    )


def version_of(value: object) -> tuple[int, ...]:
    """Return a version as numbers, so that 2.10 comes after 2.9; empty if it is none.

    Args:
        value: The version as the dump has it.
    """
    parts = (text_of(value) or "").split(".")
    is_number = all(part.isascii() and part.isdigit() for part in parts)
    return tuple(int(part) for part in parts if len(part) < 10) if is_number else ()  # noqa: PLR2004


def _pickle(data: bytes) -> tuple[object, int] | Fault:
    loaded = load_plain(data)
    if isinstance(loaded, Fault):
        return loaded
    return loaded.value, int(loaded.trailing > 0)


def _json(data: bytes) -> tuple[object, int] | Fault:
    try:
        return decode_whole(data, object)
    except NotJsonError as error:
        return Fault(error.rule, len(error.text), f"{error}"[:200])


def _is_json(data: bytes) -> bool:
    return data.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] == b"{"


def _mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, dict) else {}
