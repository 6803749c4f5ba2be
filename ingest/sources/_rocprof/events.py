"""What rocprof 1 and 2 and rocprofv3 write of work on GPUs, decoded."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import field

Number = int | str | None


class Args(msgspec.Struct, gc=False):
    """Arguments of an event of rocprof 1 and 2, which print numbers in quotes."""

    begin: Number = field(default=None, name="BeginNs")
    end: Number = field(default=None, name="EndNs")
    device: Number = field(default=None, name="dev-id")
    gpu: Number = field(default=None, name="gpu-id")
    queue: Number = field(default=None, name="queue-id")
    stream: Number = field(default=None, name="stream-id")


class Event(msgspec.Struct, gc=False):
    """An event of rocprof 1 and 2."""

    name: str = ""
    args: Args | None = None


class Handle(msgspec.Struct, gc=False):
    """What rocprofv3 tells agents and queues apart by: up to 64 bits."""

    handle: int | None = None


NO_HANDLE: Final = Handle()


class Correlation(msgspec.Struct, gc=False):
    """What a call and the work that it launched have in common."""

    internal: int | None = None


class Dispatch(msgspec.Struct, gc=False):
    """What a kernel was dispatched to."""

    agent_id: Handle | None = None
    queue_id: Handle | None = None
    kernel_id: int | None = None


class Record(msgspec.Struct, gc=False):
    """A record of rocprofv3: a kernel, a copy, or a call."""

    start_timestamp: int | None = None
    end_timestamp: int | None = None
    correlation_id: Correlation | None = None
    dispatch_info: Dispatch | None = None
    src_agent_id: Handle | None = None
    dst_agent_id: Handle | None = None


class Agent(msgspec.Struct, gc=False):
    """A processor of rocprofv3: type 1 is a CPU, type 2 a GPU."""

    id: Handle | None = None
    type: int | None = None
    logical_node_type_id: int | None = None


class Symbol(msgspec.Struct, gc=False):
    """A kernel of rocprofv3."""

    kernel_id: int | None = None
    formatted_kernel_name: str | None = None
    demangled_kernel_name: str | None = None
    kernel_name: str | None = None


EVENTS: Final = msgspec.json.Decoder(list[Event], strict=False)
RECORDS: Final = msgspec.json.Decoder(list[Record], strict=False)
AGENTS: Final = msgspec.json.Decoder(list[Agent], strict=False)
SYMBOLS: Final = msgspec.json.Decoder(list[Symbol], strict=False)

#: Whole numbers of at most as many digits as Int64 has.
_DIGITS: Final = re.compile(r"[0-9]{1,19}")

#: Numbers that Int64 holds.
_LAST: Final = (1 << 63) - 1


def whole(value: Number) -> int | None:
    """Return a number that may be in quotes and fits into Int64, else null."""
    if isinstance(value, str):
        value = int(value) if _DIGITS.fullmatch(value) else None
    return value if value is not None and 0 <= value <= _LAST else None


def last_bits(value: int | None) -> int | None:
    """Return a handle of 64 bits as Int64: it only tells one from another."""
    return None if value is None else (value + _LAST + 1) % (1 << 64) - _LAST - 1


def spans(begins: Sequence[Number], ends: Sequence[Number]) -> dict[str, list[object]]:
    """Return `start` and `duration`, null where either end is no number. [ns]"""
    starts = [whole(begin) for begin in begins]
    lengths = [
        None if start is None or (end := whole(told)) is None else end - start
        for start, told in zip(starts, ends, strict=True)
    ]
    return {"start": list(starts), "duration": list(lengths)}
