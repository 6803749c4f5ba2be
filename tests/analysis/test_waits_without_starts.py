"""Collectives whose start nothing tells: what hangs, and what has only a length."""

from typing import Any

from analysis._analysis import Frames
from analysis.attempts import find_attempts
from analysis.late_ranks import find_late_ranks
from ingest.tables import Collectives
from tests.analysis.collectives import NO_ATTEMPTS, collectives, measure, seen

NEVER: dict[str, Any] = {
    "start_ns": None,
    "end_ns": None,
    "duration_ns": None,
    "time_basis": "cpu",
}


def test_what_was_only_asked_for_is_no_wait() -> None:
    # GIVEN two ranks that asked for a collective which never started, an hour apart
    rows = [
        seen(rank, 0, None, **NEVER | {"state": "scheduled", "enqueue_ns": rank * 3600})
        for rank in range(2)
    ]

    # THEN nothing is said of waits, nor of late ranks, nor of time that a run took
    assert measure(*rows) == []
    hung = collectives(*rows)
    assert find_late_ranks(hung, NO_ATTEMPTS).is_empty()
    assert find_attempts(Frames({Collectives: hung})).is_empty()


def test_lengths_alone_tell_waits() -> None:
    # GIVEN lengths of 9 and 4: who was in it longer came first
    lengths = [
        seen(rank, 0, None, **NEVER | {"duration_ns": length, "state": "completed"})
        for rank, length in ((0, 9), (1, 4))
    ]
    (row,) = measure(*lengths)
    assert (row["transfer_ns"], row["wait_ns_max"], row["last_rank"]) == (4, 5, 1)
    assert row["start_ns"] is None
    late = find_late_ranks(collectives(*lengths), NO_ATTEMPTS)
    assert late["is_late"].to_list() == [False, False]


def test_ranks_of_one_process_are_told_apart_by_their_place_in_the_group() -> None:
    told = NEVER | {"duration_ns": 5, "state": "completed", "trace_id": "one"}
    (row,) = measure(
        *(seen(None, 0, None, **told | {"rank_in_group": place}) for place in range(2))
    )
    assert (row["ranks_seen"], row["transfer_ns"]) == (2, 5)


def test_rows_with_and_without_starts_live_together() -> None:
    hung = seen(0, 0, None, **NEVER | {"state": "scheduled", "sequence": 2})
    (row,) = measure(seen(0, 0, 19), seen(1, 12, 19), hung)
    assert (row["sequence"], row["transfer_ns"]) == (1, 7)
    assert row["start_ns"] == 0
