"""Hangs from files to the page: a folder of dumps in, the rank to blame out."""

from pathlib import Path

import pytest

from ingest.synthetic.hang import HANGS, Kind, drawn_hang, write_hang
from pipeline import querying
from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough

SUSPECTS = "SELECT rank FROM hang_suspects WHERE is_candidate ORDER BY rank"


def run(kind: Kind, folder: Path) -> tuple[list[int], str, tuple[int, ...]]:
    """Return the candidates, the page and the truth of a hang."""
    hang = drawn_hang(kind, 3)
    write_hang(hang, folder / "dumps")
    lake, page = folder / "lake", folder / "page.html"
    tokens = ["run", str(folder / "dumps"), "--lake", str(lake)]
    code = run_tokens([*tokens, "--report", str(page), "--quiet"])
    assert code in {0, 3}
    found = querying.rows_of(lake, SUSPECTS)
    return found["rank"].to_list(), page.read_text(encoding="utf-8"), hang.blamed


def test_a_stuck_rank_is_named_on_the_page(tmp_path: Path) -> None:
    found, page, blamed = run("rank_stuck", tmp_path)
    assert set(blamed) <= set(found)
    assert len(found) <= 4
    assert "hung at 2026-03-02 10:00" in page.replace("\u202f", " ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", HANGS)
def test_each_kind_from_files_to_the_page(kind: Kind, tmp_path: Path) -> None:
    found, page, blamed = run(kind, tmp_path)
    assert set(blamed) <= set(found)
    assert len(found) <= 4
    assert "Who waits for whom" in page
