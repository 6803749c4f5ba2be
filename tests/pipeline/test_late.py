"""Runs and clusters that come for days whose raw rows are gone are named."""

from pathlib import Path

import pytest

from pipeline.cli import run_tokens

DAY_NS = 86_400 * 10**9
FIRST_NS = 20_514 * DAY_NS  # 2026-03-02
LINE = "came after raw rows of such days had been retired; they were not kept, and no"


def write(folder: Path, run: str, cluster: str, days: int = 3) -> Path:
    """Four steps of two ranks and four samples a day."""
    folder.mkdir(exist_ok=True)
    (folder / "run.toml").write_text(f"run_id = '{run}'\ncluster = '{cluster}'\n")
    times = [
        FIRST_NS + day * DAY_NS + n * 3_600 * 10**9
        for day in range(days)
        for n in range(4)
    ]
    steps = [
        f"{step},{rank},{time},900\n"
        for step, time in enumerate(times)
        for rank in (0, 1)
    ]
    (folder / "steps.csv").write_text(
        "step,rank,start_ns,duration_ns\n" + "".join(steps)
    )
    power = "host,gpu_uuid,level,time_ns,power_average_w\n" + "".join(
        f"n,GPU-{run},gpu_board,{time},500\n" for time in times
    )
    (folder / "power.csv").write_text(power)
    return folder


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake of one run of three days, of which two are rollups only."""
    monkeypatch.setenv("GPULEDGER_LAKE", str(tmp_path / "lake"))
    first = write(tmp_path / "first", "first", "a")
    assert run_tokens(["ingest", str(first), "--quiet"]) == 0
    assert run_tokens(["compact", "--keep-raw", "0d", "--quiet"]) == 0
    return tmp_path / "lake"


@pytest.mark.thorough
def test_what_no_rollup_has_is_named_by_run_and_cluster(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    second = write(tmp_path / "second", "second", "b")
    assert run_tokens(["ingest", str(second)]) == 0
    said = capsys.readouterr()
    assert "37 rows read = 13 accepted + 0 rejected + 24 retired" in said.out
    span = "of 2 days (2026-03-02 to 2026-03-03)"
    told = [line for line in said.err.splitlines() if LINE in line]
    assert [line.partition(" came")[0] for line in told] == [
        f"run 'second': its step_timings {span}",
        f"cluster 'b': its power_samples {span}",
    ]
    assert all("into another lake (--lake)" in line for line in told)
    assert lake.is_dir()


@pytest.mark.thorough
@pytest.mark.usefixtures("lake")
def test_rows_of_days_that_rollups_have_are_counted_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # GIVEN the same run with a rank more, whose other days are condensed
    first = write(tmp_path / "first", "first", "a")
    log = (first / "steps.csv").read_text()
    (first / "steps.csv").write_text(log.replace(",1,", ",2,"))
    capsys.readouterr()
    assert run_tokens(["ingest", str(first)]) == 0
    said = capsys.readouterr()
    assert "16 retired" in said.out
    assert LINE not in said.err
