"""What an ingest says of files without new rows, and what makes a price doubtful."""

from pathlib import Path

import pytest

from pipeline.cli import run_tokens

pytestmark = pytest.mark.thorough

HEADER = "step,rank,start_ns,duration_ns\n"
STEPS = f"{HEADER}0,0,1700000000000000000,900\n"
SMI = (
    "timestamp, index, power.draw [W]\n"
    "2024/01/01 10:00:00.000, 0, 100.00 W\n"
    "2024/01/01 10:00:01.000, 0, 101.00 W\n"
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GPULEDGER_LAKE", raising=False)


def inbox(**files: str) -> Path:
    """A folder with files, by their names without an ending."""
    folder = Path("inbox")
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def told(capsys: pytest.CaptureFixture[str], *tokens: str, code: int = 0) -> str:
    """What a command says on both streams."""
    capsys.readouterr()
    assert run_tokens(tokens) == code
    said = capsys.readouterr()
    return said.out + said.err


def test_evidence_years_apart_is_told_beside_the_price(
    capsys: pytest.CaptureFixture[str],
) -> None:
    inbox(a=STEPS, b=STEPS.replace("170000", "150000"), c=f"{HEADER}9,0,1000,900\n")
    said = told(capsys, "run", "inbox")
    assert "doubtful: step logs of run inbox are 6.34\u202fyears apart: several" in said
    assert "--run-id names it; several runs need a folder with a run.toml each" in said
    assert "doubtful" in told(capsys, "report")


def test_relative_times_lie_apart_from_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    inbox(a=STEPS, c=f"{HEADER}9,0,1000,900\n")
    assert "doubtful" not in told(capsys, "run", "inbox")


def test_copies_and_beginnings_within_an_ingest_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    longer = f"{STEPS}1,0,1700000001000000000,900\n"
    folder = inbox(a=longer, b=STEPS, c=longer).resolve()
    said = told(capsys, "ingest", "inbox")
    assert said.startswith("1 new files (0 known): 2 rows read")
    assert (
        f"1 copy and 1 beginning of another file not read again: {folder}/b.csv"
        f" (beginning of {folder}/a.csv), {folder}/c.csv (as {folder}/a.csv)"
    ) in said


def test_files_without_a_row_for_a_table_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sacct = "JobID|JobName|State|Start|End\n1.batch|b|COMPLETED|{}|{}\n".format(
        "2024-01-01T00:00:00", "2024-01-01T01:00:00"
    )
    folder = inbox(**{name: sacct.replace("1.", f"{name}.") for name in "123456"})
    said = told(capsys, "ingest", "inbox", "--zone", "UTC")
    names = ", ".join(f"{folder.resolve()}/{n}.csv" for n in (1, 2, 3))
    assert f"6 files of sacct read, no jobs in them: {names}" in said
    assert f"{names} and 3 more" in said


def test_a_healthy_kernel_log_is_said_to_have_no_failures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = inbox()
    path = folder / "node.kern.log"
    path.write_text("2026-03-02T00:00:00+00:00 n1 kernel: Linux version 6.8\n")
    said = told(capsys, "ingest", "inbox")
    line = f"1 file of kernel-log read, no failures in it: {path.resolve()}\n"
    assert line in said
    assert "named after its folder" not in said


def test_the_truth_about_a_made_cluster_is_passed_over(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    folder = inbox(a=STEPS)
    truth = (project / "sample_traces" / "truth.json").read_text()
    (folder / "truth.json").write_text(truth)
    said = told(capsys, "ingest", "inbox")
    path = folder.resolve() / "truth.json"
    assert f"1 file passed over, the truth about made telemetry: {path}\n" in said
    assert "nothing new: 2 files" in told(capsys, "ingest", "inbox")


def test_what_is_read_again_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    inbox(a=SMI)
    said = told(capsys, "ingest", "inbox")
    assert "UTC assumed for 1 file with times without a zone; --zone" in said
    assert "read again" not in said
    said = told(capsys, "ingest", "inbox", "--zone", "+02:00")
    assert "1 file read again: zone changed" in said
    assert "UTC assumed" not in said


def test_another_run_is_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    inbox(a=STEPS)
    told(capsys, "ingest", "inbox", "--run-id", "a")
    said = told(capsys, "ingest", "inbox", "--run-id", "b")
    assert "1 file read again: run or run card changed" in said


def test_up_to_five_files_of_one_reason_are_all_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = inbox(**{name: f"Words of {name}, and more.\n" for name in "abcd"})
    said = told(capsys, "ingest", "inbox", code=3)
    names = ", ".join(f"{folder.resolve()}/{name}.csv" for name in "abcd")
    assert f"4 files: refused: looks like prose: {names}\n" in said
