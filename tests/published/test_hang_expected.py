"""Dumps of NVIDIA's resiliency extension, with the ranks that its log says it broke."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from analysis.hangs import Hangs, HangSuspects
from tests.analysis.hanging import find, named, only, read

FOLDER: Final = (
    "data/nccl/NVIDIA_nvidia-resiliency-ext/tests/attribution/unit/fr_traces"
)
CASES: Final = ("gpu_error_1st", "lock_gil_1st")

each_case = pytest.mark.parametrize("case", CASES)


def broken(shared: Path, case: str) -> list[int]:
    """Return the ranks that the log of the injection names."""
    log = (shared / FOLDER / case / "fault_injection.log").read_text()
    match = re.search(r"Fault ranks: \[([0-9, ]+)\]", log)
    assert match
    return sorted(int(rank) for rank in match[1].split(","))


def dumps(shared: Path, *cases: str) -> Iterator[tuple[str, bytes]]:
    for case in cases:
        for path in sorted((shared / FOLDER / case).glob("_dump_*")):
            yield path.name, path.read_bytes()


@each_case
def test_exactly_the_broken_ranks_are_named(shared: Path, case: str) -> None:
    found = find(read(dumps(shared, case)))
    assert named(found) == broken(shared, case)
    assert only(found)["kind"] == "rank_stuck"
    assert only(found)["ranks_seen"] == 16


def test_two_hangs_in_one_folder_are_told_apart(shared: Path) -> None:
    found = find(read(dumps(shared, *CASES)))
    suspects = found[HangSuspects].filter("is_candidate")
    by_hang = {
        hang: sorted(suspects.filter(hang_id=hang)["rank"])
        for hang in found[Hangs].sort("first_ns")["hang_id"]
    }
    # the one whose locks were held came eight hours before the broken GPUs
    truth = [broken(shared, case) for case in reversed(CASES)]
    assert list(by_hang.values()) == truth
    assert found[Hangs]["ranks_seen"].to_list() == [16, 16]


@pytest.mark.thorough
@each_case
@pytest.mark.parametrize("lost", [0, 4, 8, 15])
def test_a_lost_dump_of_another_rank_hides_nobody(
    shared: Path, case: str, lost: int
) -> None:
    files = [f for f in dumps(shared, case) if f[0] != f"_dump_{lost}"]
    found = named(find(read(files)))
    assert set(broken(shared, case)) <= set(found)
    assert len(found) <= 4


@each_case
def test_lost_dumps_of_the_broken_ranks_are_named(shared: Path, case: str) -> None:
    truth = broken(shared, case)
    lost = {f"_dump_{rank}" for rank in truth}
    found = find(read(f for f in dumps(shared, case) if f[0] not in lost))
    assert set(truth) <= set(named(found))
    assert only(found)["kind"] == "rank_dead"


def test_one_dump_alone_names_nobody(shared: Path) -> None:
    files = [f for f in dumps(shared, "gpu_error_1st") if f[0] == "_dump_13"]
    found = find(read(files))
    assert named(found) == []
    assert only(found)["kind"] == "undecided"
    assert "dumps of 1 of 16 ranks" in only(found)["verdict"]
