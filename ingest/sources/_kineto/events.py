"""What is decoded of a trace's events: only what rows are made of."""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, field

from ingest.sources._kineto.kinds import Category
from ingest.sources._kineto.repair import repairs
from ingest.sources._utf8 import is_utf8

_NOTHING: Final = Raw(b"")
_NO_ARGS: Final = Raw(b"{}")


class Event(msgspec.Struct, gc=False):
    """An event: numbers stay text, and arguments wait until it is known to matter."""

    name: str = ""
    cat: Category = Category.NONE
    ts: Raw = _NOTHING
    dur: Raw = _NOTHING
    args: Raw = _NO_ARGS


class Place(msgspec.Struct, gc=False):
    """Where old traces say an event ran: device as process, stream as thread."""

    pid: int | str | None = None
    tid: int | str | None = None


class Ids(msgspec.Struct, gc=False):
    """What links the call that launched work to that work."""

    correlation: int | None = None
    external: int | None = field(default=None, name="External id")
    old_external: int | None = field(default=None, name="external id")


class GpuArgs(Ids, gc=False):
    """Arguments of work on a GPU."""

    device: int | str | None = None
    stream: int | str | None = None
    collective: str | None = field(default=None, name="Collective name")


class CollectiveArgs(msgspec.Struct, gc=False):
    """Arguments that tell a collective."""

    collective: str | None = field(default=None, name="Collective name")
    in_elements: int | None = field(default=None, name="In msg nelems")
    out_elements: int | None = field(default=None, name="Out msg nelems")
    group_size: int | None = field(default=None, name="Group size")
    dtype: str | None = None
    group_name: int | str | None = field(default=None, name="Process Group Name")
    group_purpose: str | None = field(default=None, name="Process Group Description")
    group_ranks: str | list[int] | None = field(
        default=None, name="Process Group Ranks"
    )
    sequence: int | None = field(default=None, name="Seq")
    source: int | None = field(default=None, name="Src Rank")
    target: int | None = field(default=None, name="Dst Rank")


_T = TypeVar("_T", bound=msgspec.Struct)

_PLACES: Final = msgspec.json.Decoder(list[Place], strict=False)
_EVENTS: Final = msgspec.json.Decoder(list[Event])
_RAWS: Final = msgspec.json.Decoder(list[Raw])
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])


def decode_events(text: bytes | memoryview) -> list[Event]:
    """Decode a JSON array of events. What is no event is an empty one.

    Raises:
        msgspec.DecodeError: If the text is not JSON.
        RecursionError: If it is nested too deep.
    """
    try:
        return _EVENTS.decode(text)
    except msgspec.ValidationError:
        return [_lenient(raw, Event) for raw in _RAWS.decode(text)]


def count_broken(text: bytes | memoryview) -> int:
    """Return how many events of a decoded array hold bytes that are not UTF-8. [1]

    What is skipped in an event counts, too: it is where most text is.
    """
    if is_utf8(text):
        return 0
    return sum(not is_utf8(bytes(raw)) for raw in _RAWS.decode(text))


def decode_places(text: bytes | memoryview) -> list[Place]:
    """Decode where each event of the same array ran."""
    return decode_as(text, Place, _PLACES)


def decode_as(
    text: bytes | memoryview, kind: type[_T], decoder: msgspec.json.Decoder[list[_T]]
) -> list[_T]:
    """Decode a JSON array of objects that was decoded as events before.

    What has another type is left out. Texts that events have not may have bytes that
    are not UTF-8.
    """
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return [_lenient(raw, kind) for raw in _RAWS.decode(text)]


def decode_args(raws: Sequence[Raw], kind: type[_T]) -> list[_T]:
    """Decode the arguments of many events; what has another type is left out."""
    try:
        text = b"[" + b",".join(raws) + b"]"
        found = msgspec.json.decode(text, type=list[kind | None], strict=False)  # type: ignore[valid-type]
    except (msgspec.DecodeError, RecursionError):
        return [_lenient(raw, kind) for raw in raws]
    return [one if one is not None else kind() for one in found]


def _lenient(raw: Raw, kind: type[_T]) -> _T:
    """Decode one object and leave out the members that are not what they should be."""
    fields = {one.encode_name: one for one in msgspec.structs.fields(kind)}
    made = kind()
    for name, value in members(bytes(raw)).items():
        if name in fields:
            found = _value(value, fields[name].type)
            if found is not None:
                setattr(made, fields[name].name, found)
    return made


def members(text: bytes) -> dict[str, Raw]:
    """Return the members of an object, mended where it must be; else none."""
    for attempt in (text, *repairs(text)):
        try:
            return _MEMBERS.decode(attempt)
        except msgspec.ValidationError:
            return {}
        except (msgspec.DecodeError, RecursionError):
            continue
    return {}


def _value(raw: Raw, kind: object) -> object:
    if kind is Raw:
        return raw
    whole = bytes(raw)
    for text in (whole, whole.decode(errors="replace").encode()):
        try:
            return msgspec.json.decode(text, type=kind, strict=False)
        except (msgspec.DecodeError, RecursionError):
            continue
    return None
