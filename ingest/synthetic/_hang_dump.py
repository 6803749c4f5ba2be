"""Dumps of the Flight Recorder, as plain objects."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ingest.synthetic._hang_layout import Group, Operation
from ingest.synthetic._hang_machine import Rank, numbers_of

#: The watchdog looks this often. [ns]
_POLL_NS: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class Recorder:
    """How a job records.

    Attributes:
        version: Version of the format.
        size: Entries that a buffer holds.
        only_active: Whether dumps hold only what has not ended.
        with_timing: Whether starts and durations are recorded.
        bases: By group, the number of its collectives before the programs start.
        started_ns: When the programs start. [ns]
    """

    version: str
    size: int
    only_active: bool
    with_timing: bool
    bases: Mapping[str, int]
    started_ns: int


def dump_of(
    rank: Rank,
    groups: Sequence[Group],
    recorder: Recorder,
    draws: random.Random,
    until_ns: int | None = None,
    recorded: int | None = None,
) -> dict[str, Any]:
    """Return what a rank dumps.

    Args:
        rank: The rank, where it stands.
        groups: Its groups, in the order in which it made them.
        recorder: How the job records.
        draws: Numbers that are the rank's own.
        until_ns: When it dumps, after the start; when nothing moves any more, else.
        recorded: Operations whose end it saw; all that ended, else.
    """
    number = draws.randrange(4)
    ids = {}
    for group in groups:
        ids[group.name] = number
        number += draws.randint(1, 3)
    pairs = draws.randrange(10_000)
    seen = _Seen(rank, until_ns, recorded, recorder)
    entries: list[dict[str, Any]] = []
    status = {name: [recorder.bases[name]] * 2 for name in ids}
    numbers = zip(rank.program, numbers_of(rank.program), strict=True)
    by_name = {group.name: group for group in groups}
    for place, (operation, (count, is_pair)) in enumerate(numbers):
        if not seen.asked(place):
            break
        name = operation.group
        sequence = count + (pairs if is_pair else recorder.bases[name])
        status[name][0] = sequence
        if seen.state(place) == "completed":
            status[name][1] = sequence
        entry = _entry(rank.number, operation, by_name[name], sequence)
        entry |= seen.times(place)
        told = {"record_id": place, "pg_id": ids[name], "state": seen.state(place)}
        entries.append(entry | told)
    kept = [e for e in entries if not (recorder.only_active and e["retired"])]
    return _document(recorder, groups, entries=kept[-recorder.size :]) | {
        "pg_status": {str(ids[n]): _status(*found) for n, found in status.items()}
    }


class _Seen:
    """What a rank had seen of its program when it dumped."""

    def __init__(
        self,
        rank: Rank,
        until_ns: int | None,
        recorded: int | None,
        recorder: Recorder,
    ) -> None:
        self._rank = rank
        self._until = until_ns if until_ns is not None else 1 << 62
        self._recorded = recorded if recorded is not None else len(rank.program)
        self._recorder = recorder

    def asked(self, place: int) -> bool:
        asked = self._rank.asked_ns
        return place < len(asked) and asked[place] <= self._until

    def state(self, place: int) -> str:
        end_ns = self._rank.ended_ns.get(place)
        if end_ns is not None and end_ns <= self._until and place < self._recorded:
            return "completed"
        reached = place <= self._rank.at and place < self._rank.does
        return "started" if self._recorder.with_timing and reached else "scheduled"

    def times(self, place: int) -> dict[str, Any]:
        start_ns = self._recorder.started_ns
        state, end_ns = self.state(place), self._rank.ended_ns.get(place, 0)
        is_done, timed = state == "completed", self._recorder.with_timing
        seen_ns = start_ns + end_ns + _POLL_NS if is_done else None
        begun = timed and state != "scheduled"
        asked_ns = start_ns + self._rank.asked_ns[place]
        return {
            "time_created_ns": asked_ns,
            "time_discovered_started_ns": asked_ns + _POLL_NS if begun else None,
            "time_discovered_completed_ns": seen_ns,
            "retired": is_done,
        } | ({"duration_ms": 0.4} if timed and is_done else {})


def _entry(
    rank: int, operation: Operation, group: Group, sequence: int
) -> dict[str, Any]:
    peer, sizes = operation.peer, _sizes(operation, len(group.members))
    name = f"nccl:{operation.kind}"
    if peer is not None:
        here, there = group.members.index(rank), group.members.index(peer)
        name += f" {here}{'->' if operation.kind == 'send' else '<-'}{there}"
    return {
        "process_group": (group.name, group.purpose),
        "collective_seq_id": sequence if peer is None else 0,
        "p2p_seq_id": 0 if peer is None else sequence,
        "op_id": sequence,
        "profiling_name": name,
        "input_sizes": [[sizes[0]]],
        "input_dtypes": [operation.dtype],
        "output_sizes": [[sizes[1]]],
        "output_dtypes": [operation.dtype],
        "timeout_ms": 600_000,
        "is_p2p": peer is not None,
    }


def _sizes(operation: Operation, ranks: int) -> tuple[int, int]:
    """Return the elements that go in and come out."""
    size = operation.elements
    if operation.kind == "_all_gather_base":
        return size, size * ranks
    if operation.kind == "_reduce_scatter_base":
        return size, size // ranks
    return size, size


def _status(enqueued: int, completed: int) -> dict[str, int]:
    return {
        "last_enqueued_collective": enqueued,
        "last_started_collective": -1,
        "last_completed_collective": completed,
    }


def _document(
    recorder: Recorder, groups: Sequence[Group], entries: list[dict[str, Any]]
) -> dict[str, Any]:
    library = "comm_lib_version" if recorder.version == "2.10" else "nccl_version"
    return {
        "version": recorder.version,
        library: "2.27.3",
        "pg_config": {
            group.name: {
                "name": group.name,
                "desc": group.purpose,
                "ranks": str(list(group.members)),
            }
            for group in groups
        },
        "entries": entries,
    }
