"""Dumps of the Flight Recorder, as plain objects."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ingest.synthetic._hang_layout import Group, Operation
from ingest.synthetic._hang_machine import numbers_of
from ingest.synthetic._hang_seen import Recorder, Seen

#: What a batch tells of each of its parts, whatever became of it.
_UNSEEN: Final = {
    "time_discovered_started_ns": None,
    "time_discovered_completed_ns": None,
    "retired": False,
    "state": "scheduled",
}

#: What the entry of a whole batch tells of what is in it.
_WHOLE: Final = {
    "profiling_name": "nccl:coalesced",
    "input_sizes": [],
    "input_dtypes": [],
    "output_sizes": [],
    "output_dtypes": [],
}


def dump_of(
    seen: Seen, groups: Sequence[Group], draws: random.Random
) -> dict[str, Any]:
    """Return what a rank dumps.

    Args:
        seen: What it had seen by then.
        groups: Its groups, in the order in which it made them.
        draws: Numbers that are the rank's own.
    """
    ids = _ids(groups, draws)
    recorder, by_name = seen.recorder, {group.name: group for group in groups}
    status = {name: [recorder.bases[name]] * 2 for name in ids}
    entries: list[dict[str, Any]] = []
    for place, operation, number in _asked(seen, pairs=draws.randrange(10_000)):
        times, name = seen.times(place), operation.group
        told = {"record_id": place, "pg_id": ids[name]} | times
        entry = _entry(seen.rank.number, operation, by_name[name], number)
        if recorder.batches and operation.peer is not None:
            entries.append(told | entry | _UNSEEN)
            entry |= _WHOLE
        entries.append(told | entry)
        status[name][0] = number
        if times["retired"]:
            status[name][1] = number
    entries = [entry | {"record_id": n} for n, entry in enumerate(entries)]
    kept = [e for e in entries if not (recorder.only_active and e["retired"])]
    statuses = {str(ids[name]): _status(*found) for name, found in status.items()}
    return _document(recorder, groups) | {
        "entries": kept[-recorder.size :],
        "pg_status": statuses,
    }


def _ids(groups: Sequence[Group], draws: random.Random) -> Mapping[str, int]:
    """Return the rank's own numbers of its groups: in their order, with gaps."""
    ids: dict[str, int] = {}
    number = draws.randrange(4)
    for group in groups:
        ids[group.name] = number
        number += draws.randint(1, 3)
    return ids


def _asked(seen: Seen, pairs: int) -> Iterator[tuple[int, Operation, int]]:
    """Yield what the rank asked for: its place, the operation and its number."""
    program, bases = seen.rank.program, seen.recorder.bases
    numbers = zip(program, numbers_of(program), strict=True)
    for place, (operation, (count, is_pair)) in enumerate(numbers):
        if not seen.asked(place):
            return
        yield place, operation, count + (pairs if is_pair else bases[operation.group])


def _entry(
    rank: int, operation: Operation, group: Group, number: int
) -> dict[str, Any]:
    peer, sizes = operation.peer, _sizes(operation, len(group.members))
    name = f"nccl:{operation.kind}"
    if peer is not None:
        here, there = group.members.index(rank), group.members.index(peer)
        name += f" {here}{'->' if operation.kind == 'send' else '<-'}{there}"
    return {
        "process_group": (group.name, group.purpose),
        "collective_seq_id": number if peer is None else 0,
        "p2p_seq_id": 0 if peer is None else number,
        "op_id": number,
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


def _document(recorder: Recorder, groups: Sequence[Group]) -> dict[str, Any]:
    library = "comm_lib_version" if recorder.version == "2.10" else "nccl_version"
    configs = {
        group.name: {
            "name": group.name,
            "desc": group.purpose,
            "ranks": str(list(group.members)),
        }
        for group in groups
    }
    return {"version": recorder.version, library: "2.27.3", "pg_config": configs}
