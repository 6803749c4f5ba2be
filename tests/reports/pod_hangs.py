"""A hang of the pod: rank 5 never entered an all-reduce, and seven ranks wait."""

from analysis.hangs import Hangs, HangSuspects, HangWaits
from ingest.tables import Table
from tests.reports.builder import HOUR, RUN, START, Row

_GROUP = "3:[4,5,6,7]"


def hangs(run: str = RUN) -> dict[type[Table], list[Row]]:
    """One hang: ranks 4, 6 and 7 wait for 5, and ranks 0 to 3 for those."""
    same = {"run_id": run, "attempt": 0, "hang_id": "dump 0"}
    hang = {
        "source": "dumps",
        "first_ns": START + HOUR,
        "last_ns": START + HOUR,
        "ranks_expected": 8,
        "ranks_seen": 8,
        "ranks_elsewhen": 0,
        "ranks_missing": 0,
        "ranks_waiting": 7,
        "stuck_groups": 5,
        "kind": "rank_stuck",
        "candidates_count": 1,
        "verdict": "rank 5 never entered allreduce 41 of tp group 3:[4,5,6,7]",
    }
    suspects = [_suspect(n, rank) for n, rank in enumerate((5, 4, 6, 7, 0, 1, 2, 3))]
    waits = [_wait(0, rank, "waits") for rank in (4, 6, 7)] + [_wait(0, 5, "awaited")]
    for rank in range(4):
        waits += [_wait(rank + 1, rank, "waits"), _wait(rank + 1, rank + 4, "awaited")]
    return {
        Hangs: [same | hang],
        HangSuspects: [same | row for row in suspects],
        HangWaits: [same | row for row in waits],
    }


def _suspect(position: int, rank: int) -> Row:
    is_root = rank == 5
    depth = 0 if is_root else 1 if rank > 3 else 2
    return {
        "position": position,
        "rank": rank,
        "role": "candidate" if is_root else "blocked",
        "is_candidate": is_root,
        "rule": "never_entered" if is_root else None,
        "depth": 1 if rank == 1 else depth,
        "group_id": _GROUP,
        "parallel_kind": "tp",
        "kind": "allreduce",
        "sequence": 41,
        "waiting_count": 4 if is_root else None,
        "last_kind": "allreduce",
        "last_sequence": 40,
        "last_state": "completed",
        "last_ns": START + HOUR,
        "evidence": "never entered allreduce 41" if is_root else "waits",
    }


def _wait(operation: int, rank: int, role: str) -> Row:
    return {
        "operation": operation,
        "role": role,
        "rank": rank,
        "group_id": _GROUP,
        "parallel_kind": "tp",
        "kind": "allreduce",
        "is_p2p": False,
        "sequence": 41,
        "rule": "never_entered" if role == "awaited" else None,
        "is_candidate": rank == 5,
    }
