"""Events of NCCL's example profiler, and the collective that kernels belong to."""

import re
from dataclasses import dataclass, field
from typing import Final

import msgspec

#: Greatest number that a column of the lake holds.
GREATEST: Final = (1 << 63) - 1

#: Nanoseconds in a microsecond. [ns]
_MICROSECOND_NS: Final = 1_000

#: Categories of an event that is one rank's part of an operation.
_OPERATIONS: Final = frozenset({"COLL", "P2P"})

#: A value without quotes, as some builds print names and addresses.
_BARE: Final = re.compile(
    rb":\s*(?!true\b|false\b|null\b)(0x[0-9a-fA-F]+|[A-Za-z_]\w*)(?=\s*[,}])"
)


class Arguments(msgspec.Struct):
    """Arguments of an event, those that are used."""

    CommHash: int | str | None = None
    SeqNum: int | None = None
    Rank: int | None = None
    Peer: int | None = None
    Count: int | None = None
    Datatype: str | None = None
    Algorithm: str | None = None
    Protocol: str | None = None
    StartGpuClk: int | None = None
    StopGpuClk: int | None = None


class Event(msgspec.Struct):
    """A line: the beginning or the end of something."""

    name: str = ""
    cat: str = ""
    ph: str = ""
    ts: float = 0.0
    args: Arguments | None = None


@dataclass(slots=True)
class Operation:
    """A rank's part of a collective, a send or a receive.

    Attributes:
        number: Line that it begins in.
        event: Its beginning.
        starts: Starts of its kernels by the GPU's clock. [ns]
        stops: Their ends; None of one without a sound end. [ns]
        ended: When its end was noted. [us]
    """

    number: int
    event: Event
    starts: list[int] = field(default_factory=list)
    stops: list[int | None] = field(default_factory=list)
    ended: float | None = None

    @property
    def is_on_gpu(self) -> bool:
        """Whether the GPU's clock tells its start."""
        return bool(self.starts)

    def times(self) -> tuple[int | None, int | None, int | None]:
        """Return start, end and length. [ns]

        The profiler counts from its own beginning, so only lengths come from it.
        """
        begun = self.event.ts
        if self.starts:
            start = min(self.starts)
            known = [stop for stop in self.stops if stop is not None]
            end = max(known) if len(known) == len(self.starts) else None
            return start, end, None if end is None else end - start
        if self.ended is None or not 0 < begun <= self.ended < GREATEST / 1e6:
            return None, None, None
        return None, None, round((self.ended - begun) * _MICROSECOND_NS)


class Operations:
    """Brings the lines of an operation together: its kernels are printed inside it."""

    def __init__(self) -> None:
        """Start before the first event."""
        self.repairs = 0
        self._open: Operation | None = None

    def take(self, number: int, event: Event) -> Operation | None:
        """Take an event; return the operation that is complete with it."""
        if event.cat in _OPERATIONS:
            if event.ph == "b":
                before, self._open = self._open, Operation(number, event)
                return before
            if event.ph == "e" and self._open:
                self._open.ended = event.ts
                return self.close()
        elif event.cat == "GPU" and event.ph == "b" and self._open and event.args:
            self._take_kernel(self._open, event.args)
        return None

    def close(self) -> Operation | None:
        """Return the operation whose end was not seen."""
        before, self._open = self._open, None
        return before

    def _take_kernel(self, operation: Operation, told: Arguments) -> None:
        """Take the times of a channel; an end before the start is none."""
        start, stop = told.StartGpuClk or 0, told.StopGpuClk or 0
        if not 0 < start <= GREATEST:
            return
        is_sound = start <= stop <= GREATEST
        self.repairs += stop != 0 and not is_sound
        operation.starts.append(start)
        operation.stops.append(stop if is_sound else None)


_DECODER: Final = msgspec.json.Decoder(Event)


def decode(line: bytes) -> tuple[Event, int]:
    """Decode a line; return whether it had to be mended, too, as a count. [1]

    Raises:
        msgspec.DecodeError: If it is no event, not even with quotes around bare values.
        RecursionError: If it is nested too deeply.
    """
    try:
        return _DECODER.decode(line), 0
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return _DECODER.decode(_BARE.sub(rb':"\1"', line)), 1
