"""`gpuledger report --claim` and `--compare`: their files, messages and codes."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from ingest.quoting import MOST_LINES, Line, Quotes, Wanted
from pipeline import claiming
from pipeline.cli import run_tokens

LOG = "\n".join(
    f"2026-03-0{day}T10:01:54.005493+01:00 {node} kernel: NVRM: Xid"
    f" (PCI:0000:{bus}:00): 79, pid=7, name=python, GPU has fallen off the bus."
    for day, node, bus in ((1, "node-01", "19"), (2, "node-02", "5d"))
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake of two incidents on two nodes."""
    folder = tmp_path_factory.mktemp("claims")
    (folder / "kern.log").write_text(f"{LOG}\n")
    root = folder / "lake"
    assert run_tokens(["run", str(folder / "kern.log"), "--lake", str(root)]) == 0
    return root


def report(lake: Path, *tokens: str) -> int:
    return run_tokens(["report", "--lake", str(lake), *tokens])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line of an error."""
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def ids(lake: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Incidents of the lake, the latest first, as the message lists them."""
    capsys.readouterr()
    assert report(lake, "--claim", "zz") == 1
    line = said(capsys)
    assert "no such incident in the lake" in line
    assert "Xid 79, node-02, 2026-03-02 09:01:54 UTC" in line
    return [
        part.split("(")[0].split()[-1] for part in line.split(", ") if "Xid" in part
    ]


@pytest.mark.slow
def test_the_page_of_an_incident_is_written(
    lake: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    latest, earlier = ids(lake, capsys)
    assert report(lake, "--claim", latest.upper(), "-o", str(tmp_path / "c.html")) == 0
    captured = capsys.readouterr()
    assert captured.out.strip() == str(tmp_path / "c.html")
    assert "Check your contract:" in captured.err
    html = (tmp_path / "c.html").read_text()
    assert "contract:" not in html
    assert "line 2" in html
    assert "node-01" not in html
    assert report(lake, "--claim", earlier[:9], "--quiet") == 0
    assert (lake / f"claim-{earlier}.html").is_file()


@pytest.mark.slow
def test_a_beginning_of_several_is_one_line(
    lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(lake, "--claim", "") == 1
    assert said(capsys).startswith("gpuledger: --claim ''")


@pytest.mark.slow
def test_a_claim_stands_alone(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(lake, "--claim", "a", "--run-id", "r") == 2
    assert "leave --run-id and --compare out" in said(capsys)


def test_without_a_lake_it_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--claim", "--compare"):
        assert report(tmp_path / "none", option, "a") == 1
        assert "no lake there" in said(capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baseline", "why"),
    [("nope", "no run of the lake"), ("2026-02-31", "the calendar has no such day")],
)
def test_an_unknown_baseline_is_one_line(
    lake: Path, capsys: pytest.CaptureFixture[str], baseline: str, why: str
) -> None:
    assert report(lake, "--compare", baseline) == 1
    assert why in said(capsys)


@pytest.mark.slow
def test_a_folder_without_a_lake_is_no_baseline(
    lake: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert report(lake, "--compare", str(tmp_path)) == 1
    assert "no lake there" in said(capsys)


@pytest.mark.slow
def test_a_lake_can_be_held_against_itself(lake: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    assert report(lake, "--compare", str(lake), "-o", str(page), "--quiet") == 0
    assert "What changed" in page.read_text()


def test_of_a_storm_as_many_messages_are_looked_for_as_lines_are_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Wanted] = []

    def looked(path: str, sha256: str, size: int, wanted: Sequence[Wanted]) -> Quotes:
        asked.extend(wanted)
        return Quotes((Line(1, path + sha256 + str(size)),))

    monkeypatch.setattr(claiming, "quote", looked)
    files = pl.DataFrame(
        {"file_id": ["a"], "path": ["k.log"], "sha256": [""], "bytes": [9]}
    ).with_columns(source=pl.lit("kernel-log"))
    told = pl.DataFrame(
        {
            "file_id": ["a"] * 50_000,
            "message": [f"Xid {n}" for n in range(50_000)],
            "positions": [[0]] * 50_000,
            "total": [1] * 50_000,
            "is_root": [n == 0 for n in range(50_000)],
        }
    )
    ((file_id, quotes),) = claiming._looked_up(files, told)
    assert (file_id, len(quotes.lines)) == ("a", 1)
    assert [one.message for one in asked] == [f"Xid {n}" for n in range(MOST_LINES)]
    assert asked[0].is_root
