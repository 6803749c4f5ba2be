"""A profiler trace cut where it names its rank, process, host, groups and time."""

import gzip
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from ingest.synthetic.cluster._trace_copies import NoTraceError, repeated

#: What differs from rank to rank: a number, a text or a list of numbers.
_SLOT: Final = re.compile(
    rb'"(pid|rank|world_size|baseTimeNanoseconds|Global rank start|Src Rank|Dst Rank'
    rb'|Process Group Ranks|ranks|host_?name)"\s*:\s*'
    rb'("\[[^\]"]*\]"|\[[^\]{}]*\]|"[^"]*"|-?\d+)'
)

_TIME: Final = re.compile(rb'"ph"\s*:\s*"X"[^{}]*?"ts"\s*:\s*(\d+)')
_STEP: Final = re.compile(rb"ProfilerStep#(\d+)")
_DIGITS: Final = re.compile(rb"\d+")

#: Keys whose numbers are ranks, of a trace whose first rank may be any.
_RANKS: Final = frozenset(
    {b"Global rank start", b"Src Rank", b"Dst Rank", b"Process Group Ranks", b"ranks"}
)

Slot = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class TracePlace:
    """The rank that a trace is made for.

    Attributes:
        rank: Global rank.
        world_size: Ranks of the job. [1]
        pid: Process.
        host: Node.
        start_ns: When the first event starts. [ns]
    """

    rank: int
    world_size: int
    pid: int
    host: str
    start_ns: int


@dataclass(frozen=True, slots=True)
class TraceTemplate:
    """A trace as pieces of text: every other one is a slot, the same for each key.

    Attributes:
        pieces: Text, slot, text, slot, ..., text.
        slots: Key and value of each slot, in the order of the pieces.
        process: The process that the trace is of.
        world_size: Ranks of its job; groups of other jobs are moved by as many. [1]
        first_us: Start of its first event, since the base time. [us]
    """

    pieces: tuple[bytes, ...]
    slots: tuple[Slot, ...]
    process: bytes
    world_size: int
    first_us: int

    @classmethod
    def load(
        cls, path: Path, *, size: int | None = None, step: int | None = None
    ) -> Self:
        """Read a trace, packed or not; see `of`.

        Raises:
            OSError: If it cannot be read.
            NoTraceError: If it has no events.
        """
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        return cls.of(text, size=size, step=step)

    @classmethod
    def of(
        cls, text: bytes, *, size: int | None = None, step: int | None = None
    ) -> Self:
        """Cut a trace.

        Args:
            text: The trace.
            size: Bytes that it is to have, by repeating its events. [B]
            step: Number that its first step is to have.

        Raises:
            NoTraceError: If it has no events.
        """
        long = repeated(text, size) if size else text
        whole = _with_head(_renumbered(long, step))
        times = [int(match[1]) for match in _TIME.finditer(whole)]
        if not times:
            raise NoTraceError
        pieces, slots = _cut(whole)
        processes = Counter(v for k, v in slots if k == b"pid" and v.isdigit())
        world = next((int(v) for k, v in slots if k == b"world_size"), 1)
        process = processes.most_common(1)[0][0] if processes else b""
        return cls(pieces, slots, process, max(world, 1), min(times))

    def filled(self, place: TracePlace) -> bytes:
        """Return the trace of a rank."""
        values = {slot: _value(self, slot, place) for slot in dict.fromkeys(self.slots)}
        pieces = list(self.pieces)
        pieces[1::2] = [values[slot] for slot in self.slots]
        return b"".join(pieces)


def _renumbered(text: bytes, step: int | None) -> bytes:
    """Return a trace whose steps are numbered from one on."""
    numbers = [int(match[1]) for match in _STEP.finditer(text)]
    if step is None or not numbers:
        return text
    shift = step - min(numbers)
    return _STEP.sub(lambda m: b"ProfilerStep#%d" % (int(m[1]) + shift), text)


def _with_head(text: bytes) -> bytes:
    """Return a trace that says its rank and base time, if it says them or not."""
    head = b""
    if b'"distributedInfo"' not in text:
        head += b'"distributedInfo":{"backend":"nccl","rank":0,"world_size":1},'
    if b'"baseTimeNanoseconds"' not in text:
        head += b'"baseTimeNanoseconds":0,'
    begin = text.index(b"{") + 1
    return text[:begin] + head + text[begin:]


def _cut(text: bytes) -> tuple[tuple[bytes, ...], tuple[Slot, ...]]:
    pieces: list[bytes] = []
    slots: list[Slot] = []
    done = 0
    for match in _SLOT.finditer(text):
        pieces += (text[done : match.start(2)], b"")
        slots.append((match[1], match[2]))
        done = match.end()
    return (*pieces, text[done:]), tuple(slots)


def _value(template: TraceTemplate, slot: Slot, place: TracePlace) -> bytes:
    """Return what a slot holds for a rank."""
    key, value = slot
    if key == b"pid":
        return b"%d" % place.pid if value == template.process else value
    if key in _RANKS:
        moved = place.rank - place.rank % template.world_size
        return _DIGITS.sub(lambda m: b"%d" % (int(m[0]) + moved), value)
    if key == b"baseTimeNanoseconds":
        return b"%d" % (place.start_ns - template.first_us * 1_000)
    if key == b"rank":
        return b"%d" % place.rank
    if key == b"world_size":
        return b"%d" % place.world_size
    return f'"{place.host}"'.encode()
