"""Lines of NCCL Inspector, by their keys: versions do not tell what a line holds."""

from typing import Annotated, Final

import msgspec

from ingest.sources._lines_json import Record

#: Greatest number that a column of the lake holds.
GREATEST: Final = (1 << 63) - 1

#: Nanoseconds in a microsecond. [ns]
MICROSECOND_NS: Final = 1_000

Number = Annotated[int, msgspec.Meta(ge=0, le=GREATEST)]
Index = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Name = Annotated[str, msgspec.Meta(min_length=1)]


class Header(msgspec.Struct):
    """The communicator, and the position of the process's rank in it."""

    id: Name
    rank: Index
    n_ranks: Index | None = None
    comm_name: str | None = None


class Metadata(msgspec.Struct):
    """When and where the line was written. [us]"""

    dump_timestamp_us: Number | None = None
    hostname: str | None = None


class KernelEvent(msgspec.Struct):
    """What the host saw of the kernel of one channel. [us]"""

    kernel_start_ts: Number | None = None
    kernel_stop_ts: Number | None = None


class EventTimes(msgspec.Struct):
    """What the host saw of a collective. [us]"""

    coll_start_ts: Number | None = None
    coll_stop_ts: Number | None = None
    p2p_start_ts: Number | None = None
    p2p_stop_ts: Number | None = None
    kernel_events: list[KernelEvent] = []


class Collective(msgspec.Struct):
    """A collective that has ended."""

    coll: Name
    coll_sn: Number
    coll_msg_size_bytes: Number
    coll_exec_time_us: int | float
    coll_algo: str | None = None
    coll_proto: str | None = None
    event_trace_ts: EventTimes | None = None


class PointToPoint(msgspec.Struct):
    """A send or a receive that has ended."""

    p2p: Name
    p2p_sn: Number
    p2p_msg_size_bytes: Number
    p2p_exec_time_us: int | float
    p2p_peer: Index | None = None
    event_trace_ts: EventTimes | None = None


class Line(msgspec.Struct):
    """A line: one collective, or one send or receive, or what is for no table."""

    header: Header
    metadata: Metadata | None = None
    coll_perf: Collective | None = None
    p2p_perf: PointToPoint | None = None


Times = tuple[int | None, int | None, int | None]
Numbers = tuple[int | None, int | None, int | None]

#: Types of the columns of a row, in order.
SCHEMA: Final = (
    *("event", "rank_in_group", "group_size", "peer_in_group"),
    *("sequence", "p2p_sequence", "size", "duration_ns"),
    *("recorded_ns", "enqueue_ns", "start_ns", "end_ns"),
    *("group_id", "name", "comm_name", "algorithm", "host"),
)

#: Columns of them that are text.
TEXTS: Final = frozenset(SCHEMA[-5:])


def row_of(record: Record[Line]) -> tuple[object, ...] | str | None:
    """Return a row with the columns of SCHEMA, or the rule that a line breaks.

    None of a line that is for no table: counts of what was dropped, proxy operations.
    """
    line = record.value
    if (coll := line.coll_perf) is not None:
        name, size, algorithm = coll.coll, coll.coll_msg_size_bytes, _algorithm(coll)
        elapsed, times = coll.coll_exec_time_us, coll.event_trace_ts
        numbers: Numbers = (None, coll.coll_sn, None)
    elif (pair := line.p2p_perf) is not None:
        name, size, algorithm = pair.p2p, pair.p2p_msg_size_bytes, None
        elapsed, times = pair.p2p_exec_time_us, pair.event_trace_ts
        numbers = (pair.p2p_peer, None, pair.p2p_sn)
    else:
        return None
    if not 0 <= elapsed <= GREATEST // MICROSECOND_NS:
        return "duration_ns|value"
    header, metadata = line.header, line.metadata or Metadata()
    duration_ns = round(elapsed * MICROSECOND_NS)
    known = (record.number, header.rank, header.n_ranks or None, *numbers)
    seen = (_ns(metadata.dump_timestamp_us), *_times(times))
    texts = (header.id, name, header.comm_name, algorithm, metadata.hostname or None)
    return (*known, size, duration_ns, *seen, *texts)


def _algorithm(coll: Collective) -> str | None:
    parts = [part.upper() for part in (coll.coll_algo, coll.coll_proto) if part]
    return "_".join(parts) or None


def _times(seen: EventTimes | None) -> Times:
    """Return when it was asked for, started and ended, as the host saw it. [ns]

    A stop before the start is none: neither is known then.
    """
    if seen is None:
        return None, None, None
    asked = _ns(seen.coll_start_ts or seen.p2p_start_ts)
    starts = [_ns(event.kernel_start_ts) for event in seen.kernel_events]
    stops = [_ns(event.kernel_stop_ts) for event in seen.kernel_events]
    start = min((time for time in starts if time), default=asked)
    last = _ns(seen.coll_stop_ts or seen.p2p_stop_ts)
    end = max((time for time in stops if time), default=last)
    if start is not None and end is not None and end < start:
        return asked, None, None
    return asked, start, end


def _ns(time_us: int | None) -> int | None:
    """Return microseconds as nanoseconds; 0 is an unknown time. [ns]"""
    is_known = time_us and time_us <= GREATEST // MICROSECOND_NS
    return time_us * MICROSECOND_NS if time_us and is_known else None
