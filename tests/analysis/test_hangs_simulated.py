"""Hangs of jobs that were run until none of their ranks could go on.

The ranks to blame are known, since nothing but the fault stops a rank. Not among the
jobs, so not shown by these tests: buffers of less than 30 entries, which may hold
nothing of what a rank waits in; and lost dumps of ranks beside which fewer than two
others stand, where nobody who is left tells what is waited for. Batches hold one send
or receive each.
"""

from typing import Final

import pytest

from analysis._hang_graph import MOST
from analysis.hangs import Hangs
from ingest.synthetic._hang_layout import Layout
from ingest.synthetic.hang import HANGS, Hang, Kind, drawn_hang
from tests.analysis.hanging import find, named, read

pytestmark = pytest.mark.thorough

each_kind = pytest.mark.parametrize("kind", HANGS)


def candidates(hang: Hang) -> list[int]:
    return named(find(read(hang.files().items())))


def is_found(hang: Hang) -> bool:
    found = candidates(hang)
    return set(hang.blamed) <= set(found) and len(found) <= MOST


@each_kind
def test_the_rank_to_blame_is_among_at_most_four(kind: Kind) -> None:
    assert is_found(drawn_hang(kind, 3))


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize("seed", range(20))
def test_in_every_one_of_a_hundred_jobs(kind: Kind, seed: int) -> None:
    assert is_found(drawn_hang(kind, seed))


@pytest.mark.slow
def test_less_than_two_ranks_are_named_on_average() -> None:
    sizes = [len(candidates(drawn_hang(k, s))) for k in HANGS for s in range(20)]
    assert sum(sizes) / len(sizes) < 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_gpu_whose_operations_are_not_seen_to_end_is_named(seed: int) -> None:
    assert is_found(drawn_hang("gpu_error", seed))


@pytest.mark.parametrize("kind", ["second_fault", "node_dead"])
def test_several_ranks_to_blame_are_all_named(kind: Kind) -> None:
    assert is_found(drawn_hang(kind, 3))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["second_fault", "node_dead"])
@pytest.mark.parametrize("seed", range(20))
def test_in_every_job_several_ranks_to_blame_are_all_named(
    kind: Kind, seed: int
) -> None:
    assert is_found(drawn_hang(kind, seed))


#: Two stages that send to each other.
STAGES: Final = Layout(2, 2, 2, ep=1, layers=2, micro_batches=4, hidden=1024)


@pytest.mark.parametrize("seed", range(3))
def test_batches_of_a_healthy_job_name_nobody(seed: int) -> None:
    assert candidates(drawn_hang("finished", seed, STAGES, batches=True)) == []


@pytest.mark.parametrize("seed", range(3))
def test_a_stuck_rank_among_batches_is_named(seed: int) -> None:
    assert is_found(drawn_hang("rank_stuck", seed, STAGES, batches=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_in_every_job_with_batches_the_rank_is_named(seed: int) -> None:
    assert is_found(drawn_hang("rank_stuck", seed, batches=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["finished", "moments"])
def test_of_a_healthy_job_nobody_is_named(kind: Kind, seed: int) -> None:
    assert candidates(drawn_hang(kind, seed)) == []


@pytest.mark.parametrize("kind", ["finished", "moments"])
def test_of_one_healthy_job_nobody_is_named(kind: Kind) -> None:
    found = find(read(drawn_hang(kind, 1).files().items()))
    assert named(found) == []
    assert set(found[Hangs]["kind"]) <= {"undecided"}


def test_the_order_of_the_files_changes_nothing() -> None:
    files = list(drawn_hang("group_starved", 3).files().items())
    first, second = find(read(files)), find(read(files[::-1]))
    for table, rows in first.items():
        assert rows.equals(second[table])
