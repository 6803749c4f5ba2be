"""Files take the place of older states, and contend for rows with one key."""

from pathlib import Path

import pytest

from ingest.lake import known_files
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    losses,
    put,
)

pytestmark = pytest.mark.thorough


def test_rows_of_a_file_that_has_grown_are_replaced(tmp_path: Path, root: Path) -> None:
    # GIVEN a log in a part with another's rows
    old = candidate(put(tmp_path, "log", ["m 1 5 1", "m 2 6 2", "?"]))
    other = candidate(put(tmp_path, "other", ["m 9 5 9", "?"]))
    ingest(root, [old, other])

    # WHEN it has grown
    lines = ["m 1 5 1", "m 2 6 2", "?", "m 3 7 3"]
    path = put(tmp_path, "log", lines)
    (done,) = ingest(root, [candidate(path, supersedes=[old.reading.file_id])])

    # THEN its rows are there once, and the other's still
    assert losses(root) == {1: 1.0, 2: 2.0, 3: 3.0, 9: 9.0}
    assert done.superseded == {old.reading.file_id}
    assert sorted(known_files(root)["path"]) == ["log", "other"]
    assert old.reading.file_id not in known_files(root)["file_id"]
    assert content(root)["rejected_rows"].height == 2
    assert_accounted(root)


def test_a_file_and_its_older_state_in_one_commit(tmp_path: Path, root: Path) -> None:
    old = candidate(put(tmp_path, "old", ["m 1 5 1", "m 2 5 2"]))
    new = candidate(put(tmp_path, "new", ["m 1 5 1"]), supersedes=[old.reading.file_id])
    ingest(root, [old, new])
    assert losses(root) == {1: 1.0}
    assert known_files(root)["path"].to_list() == ["new"]
    assert_accounted(root)


def test_of_two_files_the_one_whose_data_reaches_further_wins(
    tmp_path: Path, root: Path
) -> None:
    # GIVEN step 2 in both; `late` has data of the next day
    early = candidate(put(tmp_path, "early", ["m 1 5 1", "m 2 6 2"]))
    late = candidate(put(tmp_path, "late", ["m 2 7 -2", f"m 3 {DAY} -3"]))

    # WHEN the one that loses comes last
    ingest(root, [late], [early])

    # THEN
    assert losses(root) == {1: 1.0, 2: -2.0, 3: -3.0}
    (refused,) = content(root)["rejected_rows"].iter_rows(named=True)
    assert refused["file_id"] == early.reading.file_id
    assert refused["rule"] == "duplicate"
    assert refused["place"] == 'run_id "r", attempt null, step 2'
    assert '"loss":2.0' in refused["raw"]
    told = known_files(root).sort("path").select("path", "rows_accepted")
    assert told.rows() == [("early", 1), ("late", 2)]
    assert_accounted(root)


def test_among_equals_the_greater_file_id_wins(tmp_path: Path, root: Path) -> None:
    one = candidate(put(tmp_path, "one", ["m 1 5 1"]))
    two = candidate(put(tmp_path, "two", ["m 1 5 2"]))
    ingest(root, [one], [two])
    ids = {one.reading.file_id: 1.0, two.reading.file_id: 2.0}
    assert losses(root) == {1: ids[max(ids)]}


def test_a_row_comes_back_when_the_one_that_won_leaves(
    tmp_path: Path, root: Path
) -> None:
    # GIVEN three files with step 1, of which `c` wins and then `b`
    a = candidate(put(tmp_path, "a", ["m 1 5 1", "m 5 5 5"]))
    b = candidate(put(tmp_path, "b", ["m 1 6 2", "m 6 6 6"]))
    c = candidate(put(tmp_path, "c", ["m 1 7 3", "m 7 7 7"]))
    ingest(root, [c], [a], [b])
    assert losses(root)[1] == 3.0

    # WHEN the winner is read anew and no longer has it
    new = candidate(put(tmp_path, "c", ["m 7 7 7"]), supersedes=[c.reading.file_id])
    ingest(root, [new])

    # THEN
    assert losses(root) == {1: 2.0, 5: 5.0, 6: 6.0, 7: 7.0}
    told = dict(known_files(root).select("path", "rows_rejected").iter_rows())
    assert told == {"a": 1, "b": 0, "c": 0}
    assert content(root)["rejected_rows"].height == 1
    assert_accounted(root)


def test_an_order_of_magnitude_of_duplicates(tmp_path: Path, root: Path) -> None:
    lines = [f"s {i} {i % 7} {i * DAY // 100} 1" for i in range(500)]
    one = candidate(put(tmp_path, "one", [*lines, "m 1 5 1"]))
    two = candidate(put(tmp_path, "two", [*lines, "m 2 5 1", f"m 3 {9 * DAY} 1"]))
    ingest(root, [two], [one])
    told = dict(known_files(root).select("path", "rows_rejected").iter_rows())
    assert told == {"one": 500, "two": 0}
    assert content(root)["rejected_rows"]["rule"].unique().to_list() == ["duplicate"]
    assert_accounted(root)


def test_equal_inputs_make_equal_lakes(tmp_path: Path) -> None:
    logs = [
        candidate(put(tmp_path, "a", ["m 1 5 1", "m 2 6 2", "m 2 6 3", "?"])),
        candidate(put(tmp_path, "b", ["m 2 9 2", "s 1 1 1 1"])),
    ]
    ingest(tmp_path / "one", logs)
    ingest(tmp_path / "two", logs[1:], logs[:1])
    assert_same(content(tmp_path / "one"), content(tmp_path / "two"))
