"""What is said of an ingest while it runs."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl

from ingest.staging import Candidate, Staged
from pipeline.logs import silence
from pipeline.progress import Progress


def _candidates(*sizes: int) -> list[Candidate]:
    made = [
        SimpleNamespace(reading=SimpleNamespace(file_id=f"f{n}"), size=size)
        for n, size in enumerate(sizes)
    ]
    return cast("list[Candidate]", made)


def _staged(rows: int, *file_ids: str) -> Staged:
    files = pl.DataFrame({"rows_accepted": [rows]})
    return Staged((), files, dict.fromkeys(file_ids, ()))


def test_a_line_tells_files_bytes_rate_and_time_left() -> None:
    # 2 MB of 10 MB took 30 s: the 8 MB that are left take 4 x 30 s
    progress = Progress(_candidates(2_000_000, 8_000_000), now_s=100.0)
    line = progress.after(_staged(60_000, "f0"), now_s=130.0)
    assert line == (
        "1 of 2 files, 2.0 MB of 10.0 MB committed, 2,000 rows/s, about 2 min 0 s left"
    )
    # 60 000 + 90 000 rows in 50 s
    line = progress.after(_staged(90_000, "f1"), now_s=150.0)
    assert line == "2 of 2 files, 10.0 MB of 10.0 MB committed, 3,000 rows/s"


def test_hours_are_told_as_hours() -> None:
    progress = Progress(_candidates(1, 3), now_s=0.0)
    line = progress.after(_staged(0, "f0"), now_s=3_600.0)
    assert line.endswith("1 B of 4 B committed, 0 rows/s, about 3 h 0 min left")


def test_files_without_a_byte_are_counted_by_number() -> None:
    progress = Progress(_candidates(0, 0), now_s=0.0)
    line = progress.after(_staged(0, "f0"), now_s=5.0)
    assert line == "1 of 2 files, 0 B of 0 B committed, 0 rows/s, about 5 s left"


def test_a_clock_that_stands_gives_no_rate() -> None:
    progress = Progress(_candidates(1), now_s=0.0)
    line = progress.after(_staged(1, "f0"), now_s=0.0)
    assert line == "1 of 1 files, 1 B of 1 B committed"


def test_one_who_wants_quiet_is_told_nothing() -> None:
    silence(Progress(_candidates(1)).after(_staged(1, "f0")))


def test_an_ingest_says_a_line_for_each_commit(tmp_path: Path) -> None:
    from ingest.discovery import Options, discover
    from ingest.lake import open_writer
    from pipeline.steps import ingest, stage_in_threads

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "note.txt").write_text("nothing that is known\n")
    said: list[str] = []
    found = discover([tmp_path / "in"], Options())
    with open_writer(tmp_path / "lake") as writer:
        ingest(writer, found, stage_in_threads(1), said.append)
    assert [line.split(" committed")[0] for line in said if "committed" in line] == [
        "1 of 1 files, 22 B of 22 B"
    ]
