"""Days that are gone for good, and what their files say of it."""

from pathlib import Path

import polars as pl

from ingest import planning
from ingest.discovery import Options, discover
from ingest.lake import known_files, open_writer, snapshot
from ingest.retention import (
    days_before,
    never_retired,
    newest_day,
    retire,
    retired_days,
)
from ingest.staging import stage
from ingest.tables import TABLES, StepTimings
from tests.ingest.test_compaction import SMALL, compact
from tests.ingest.tiny import (
    DAY,
    TINY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    put,
)
from tests.ingest.traced import traced_candidate

#: 2023-11-14 is a day of some test runs.
FIRST = 19_675
NAMES = ("2023-11-14", "2023-11-15", "2023-11-16", "2023-11-17")


def step(number: int, day: int, rank: int = 0) -> str:
    return f"s {number} {rank} {(FIRST + day) * DAY + number} 5"


def lines(*days: int, rank: int = 0) -> list[str]:
    return [step(number, day, rank) for day in days for number in range(10)]


def gone(root: Path, *days: str) -> int:
    with open_writer(root, grace_s=0) as writer:
        return retire(writer, {StepTimings: days}).rows


def counts(root: Path) -> dict[str, tuple[int, int, int]]:
    """Accepted, rejected and retired rows by path."""
    files = known_files(root).select(
        "path", "rows_accepted", "rows_rejected", "rows_retired"
    )
    return {path: (a, b, c) for path, a, b, c in files.iter_rows()}


def test_days_are_counted_from_the_newest_of_the_data(
    root: Path, tmp_path: Path
) -> None:
    late = f"s 1 9 {(FIRST + 900) * DAY} 5"
    ingest(
        root, [candidate(put(tmp_path, "a", [*lines(0, 1, 2, 3), "s 5 7 4 5", late]))]
    )
    lake = snapshot(root).manifest
    newest = newest_day(lake, [StepTimings], "2023-12-24")
    assert newest == NAMES[3]
    assert days_before(lake, StepTimings, newest, 0) == list(NAMES[:3])
    assert days_before(lake, StepTimings, newest, 2) == list(NAMES[:1])
    assert days_before(lake, StepTimings, newest, 3) == []
    # a row of 1970 has a time that counts from elsewhere
    assert never_retired(lake, StepTimings) == 1
    assert newest_day(lake, TABLES[:1], "2023-12-24") is None


def test_every_row_is_accepted_rejected_or_retired(root: Path, tmp_path: Path) -> None:
    # GIVEN two ranks on four days, one row refused, and a row that lost its key
    ingest(
        root,
        [candidate(put(tmp_path, "a", [*lines(0, 1, 2, 3), "?"]))],
        [candidate(put(tmp_path, "b", lines(0, 1, 2, 3, rank=1)))],
        [candidate(put(tmp_path, "c", [step(1, 0), step(0, 4, 5)]))],
    )
    before = content(root)["step_timings"]
    # WHEN two days are retired
    assert gone(root, *NAMES[:2]) == 40
    # THEN their rows are gone, and their files say so
    after = content(root)["step_timings"]
    old = pl.col("start_ns") < (FIRST + 2) * DAY
    assert after.equals(before.filter(~old))
    assert counts(root) == {"a": (20, 2, 19), "b": (20, 0, 20), "c": (1, 0, 1)}
    assert retired_days(snapshot(root).manifest) == {"step_timings": list(NAMES[:2])}
    assert_accounted(root)
    # AND again is nothing
    assert gone(root, *NAMES[:2]) == 0
    assert days_before(snapshot(root).manifest, StepTimings, NAMES[3], 2) == []


def test_what_comes_later_is_never_written(root: Path, tmp_path: Path) -> None:
    ingest(root, [candidate(put(tmp_path, "a", lines(0, 1)))])
    gone(root, NAMES[0])
    before = content(root)["step_timings"]
    ingest(root, [candidate(put(tmp_path, "b", [*lines(0, rank=3), step(3, 1, 3)]))])
    assert counts(root)["b"] == (1, 0, 10)
    assert content(root)["step_timings"].height == before.height + 1
    assert_accounted(root)


def test_a_grown_file_whose_old_rows_are_retired(root: Path, tmp_path: Path) -> None:
    # GIVEN a log of two days, the first of which is retired
    first = candidate(put(tmp_path, "a", lines(0, 1)))
    ingest(root, [first])
    gone(root, NAMES[0])
    # WHEN it has grown by a day
    grown = candidate(
        put(tmp_path, "a", lines(0, 1, 2)), supersedes=[first.reading.file_id]
    )
    ingest(root, [grown])
    # THEN its rows are those of the days that are left
    assert counts(root) == {"a": (20, 0, 10)}
    assert_accounted(root)
    # AND as if the lake had had all of it before the retention
    other = root.with_name("other")
    ingest(other, [grown])
    gone(other, NAMES[0])
    assert_same(content(root), content(other))


def test_a_file_that_was_retired_whole_grows_too(root: Path, tmp_path: Path) -> None:
    header = "step,rank,start_ns,duration_ns\n"
    rows = [f"{n},0,{(FIRST + n // 5) * DAY + n},900\n" for n in range(10)]

    def bring(name: str, count: int) -> None:
        (tmp_path / name).write_text(header + "".join(rows[:count]))
        found = discover([tmp_path / name], Options(run_id="r"), root)
        with open_writer(root) as writer:
            todo = planning.plan(found, known_files(root))
            for batch in todo.batches():
                writer.commit([stage(root, batch)])

    bring("log", 5)
    gone(root, NAMES[0])
    (tmp_path / "log").unlink()
    # WHEN it comes under another name, and longer
    bring("log.1", 10)
    # THEN it is the same log
    assert [row[1:] for row in counts(root).items()] == [((5, 0, 5),)]
    assert_accounted(root)


def test_steps_of_traces_stay(root: Path, tmp_path: Path) -> None:
    # GIVEN a file that gives kernels, too, beside one that does not
    trace = put(tmp_path, "t", lines(0, rank=5))
    plain = put(tmp_path, "p", lines(0, rank=6))
    ingest(root, [traced_candidate(trace), candidate(plain, source=TINY)])
    gone(root, NAMES[0])
    # THEN only the other's steps leave
    assert counts(root) == {"t": (11, 0, 0), "p": (0, 0, 10)}
    # AND a trace that comes later for the day brings its own
    ingest(root, [traced_candidate(put(tmp_path, "u", lines(0, rank=7)))])
    assert counts(root)["u"] == (11, 0, 0)
    assert set(content(root)["step_timings"]["rank"]) == {5, 7}
    assert_accounted(root)


def test_merged_parts_are_retired_as_any_other(root: Path, tmp_path: Path) -> None:
    for rank in range(4):
        ingest(root, [candidate(put(tmp_path, f"{rank}", lines(0, 1, rank=rank)))])
    compact(root, SMALL)
    assert gone(root, NAMES[0]) == 40
    assert content(root)["step_timings"].height == 40
    assert_accounted(root)
