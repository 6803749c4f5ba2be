"""Mappings on the command line, above a file, in the settings; what a summary says."""

from pathlib import Path

import polars as pl
import pytest

from ingest.lake import known_files, snapshot
from ingest.tables import RejectedRows, StepTimings, TrainingMetrics
from pipeline import scheduling
from pipeline.cli import run_tokens
from pipeline.commands._shared import COMMON, Reading, settings_of
from tests.ingest.mapped import TIMED

pytestmark = pytest.mark.thorough

DATA = "step,rank,t,d\n1,0,1700000000,2\n2,0,1700000001,x\n"


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An inbox with one table that no source knows; the lake is beside it."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "inbox" / "night"
    folder.mkdir(parents=True)
    (folder / "log.csv").write_text(DATA)
    return folder.parent


def sources() -> dict[str, int]:
    known = known_files(Path("lake"))
    return dict(known.select("source", "rows_accepted").iter_rows())


def durations() -> list[int]:
    rows = snapshot(Path("lake")).scan(StepTimings).collect()
    return rows["duration_ns"].to_list()


def test_the_nearest_mapping_above_a_file_applies_and_is_no_file_to_read(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inbox / "mapping.toml").write_text(f'name = "night"\n{TIMED}')
    assert run_tokens(["ingest", "inbox"]) == 3
    said = capsys.readouterr()
    assert said.out == (
        "1 new files (0 known): 2 rows read = 1 accepted + 1 rejected + 0 retired\n"
    )
    assert "first duration_ns|number at line 3 (expected a decimal number in ms" in (
        said.err
    )
    assert sources() == {"mapping:night": 1}
    refused = snapshot(Path("lake")).scan(RejectedRows).collect()
    assert refused["raw"].to_list() == ["2,0,1700000001,x"]


def test_a_mapping_that_is_given_comes_first(inbox: Path, tmp_path: Path) -> None:
    (inbox / "mapping.toml").write_text(TIMED)
    (tmp_path / "given.toml").write_text(TIMED.replace('"ms"', '"s"'))
    run_tokens(["ingest", "inbox", "--mapping", "given.toml", "--quiet"])
    assert sources() == {"mapping:given": 1}
    assert durations() == [2 * 10**9]


def test_a_changed_mapping_reads_its_files_again_and_its_old_rows_leave(
    inbox: Path,
) -> None:
    for unit, name, length in (
        ("ms", "a", 10**6),
        ("s", "a", 10**9),
        ("h", "b", 36e11),
    ):
        text = TIMED.replace('"ms"', f'"{unit}"')
        (inbox / "mapping.toml").write_text(f'name = "{name}"\n{text}')
        run_tokens(["ingest", "inbox", "--quiet"])
        assert durations() == [2 * int(length)]
        assert sources() == {f"mapping:{name}": 1}
        assert run_tokens(["ingest", "inbox", "--quiet"]) == 0


def test_a_mapping_comes_after_a_file_was_refused_and_goes_again(inbox: Path) -> None:
    run_tokens(["ingest", "inbox", "--quiet"])
    assert sources() == {"unrecognized": 0}
    (inbox / "mapping.toml").write_text(TIMED)
    run_tokens(["ingest", "inbox", "--quiet"])
    assert sources() == {"mapping:mapping": 1}
    (inbox / "mapping.toml").unlink()
    run_tokens(["ingest", "inbox", "--quiet"])
    # nobody reads it now, and what was read stays
    assert sources()["mapping:mapping"] == 1


def test_a_pattern_wins_over_a_source_and_the_source_comes_back(inbox: Path) -> None:
    header = "step,rank,start_ns,duration_ns\n"
    (inbox / "night" / "log.csv").write_text(f"{header}1,0,17,2\n")
    run_tokens(["ingest", "inbox", "--quiet"])
    assert durations() == [2]
    text = TIMED.replace("[[map]]\n", '[[map]]\nfiles = "*.csv"\n')
    text = text.replace('"t"', '"start_ns"').replace('"d"', '"duration_ns"')
    (inbox / "mapping.toml").write_text(text)
    run_tokens(["ingest", "inbox", "--quiet"])
    assert durations() == [2_000_000]
    (inbox / "mapping.toml").unlink()
    run_tokens(["ingest", "inbox", "--quiet"])
    assert durations() == [2]


def test_settings_and_variables_name_mappings(
    inbox: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "given.toml").write_text(TIMED)
    (tmp_path / "gpuledger.toml").write_text('mapping = ["given.toml"]\n')
    run_tokens(["ingest", str(inbox), "--quiet"])
    assert sources() == {"mapping:given": 1}
    (tmp_path / "gpuledger.toml").unlink()
    monkeypatch.setenv("GPULEDGER_MAPPING", '["given.toml"]')
    assert run_tokens(["ingest", str(inbox), "--quiet"]) == 0


def test_a_night_takes_a_mapping_as_a_plain_value(inbox: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.toml"
    given.write_text(TIMED)
    reading = Reading(mapping=(Path("given.toml"),))
    told = settings_of(COMMON, reading)
    night = scheduling.Night.of(inbox, told, reading, wait=False)
    assert night.parameters()["mappings"] == [str(given)]
    assert night.order(night.settings()).options.mappings == (given,)


def test_a_wrong_mapping_is_one_line_and_nothing_is_read(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = inbox / "mapping.toml"
    path.write_text(TIMED.replace('"ms"', '"sec"'))
    assert run_tokens(["ingest", "inbox"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"gpuledger: {path}: map 1: columns.duration_ns: unit: the numbers of the"
        " source need one of ns, us, ms, s, min, h, d; found 'sec'"
    )
    assert not Path("lake").exists()
    assert run_tokens(["ingest", "inbox", "--mapping", "none.toml"]) == 1


def test_a_file_of_that_name_that_is_something_else_is_no_mapping(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inbox / "mapping.toml").write_text("[http]\nroute = 'x'\n")
    assert run_tokens(["ingest", "inbox"]) == 3
    assert "mapping.toml: refused: looks like settings (INI or TOML)" in (
        capsys.readouterr().err
    )


def test_many_files_of_one_kind_are_one_line(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        folder = inbox / f"pkg{number:02}"
        folder.mkdir()
        (folder / "LICENSE").write_text(
            f"The licence of package number {number} here\n"
        )
    run_tokens(["ingest", "inbox"])
    said = capsys.readouterr().err
    assert "30 files: refused: looks like prose: " in said
    assert "pkg02/LICENSE and 27 more" in said
    assert (
        "log.csv: refused: looks like CSV with the columns step, rank, t, d;"
    ) in said
    assert "; write a mapping for it (README, Mapping)" in said


def test_the_step_log_of_the_examples(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = project / "sample_traces" / "mappings" / "steplog"
    assert run_tokens(["ingest", str(folder), "--quiet"]) == 0
    assert sources() == {"mapping:steplog": 8}
    steps = snapshot(Path("lake")).scan(StepTimings).collect().sort("step", "rank")
    assert steps["duration_ns"].to_list() == [
        1_012_500_000,
        1_012_400_000,
        998_062_500,
        998_000_000,
        1_000_000_000,
    ]
    assert steps["checkpoint_ns"].to_list() == [None, None, 200_000_000, None, None]
    # 02:59:58.25 in Berlin in winter, and the last with an offset of its own
    assert steps["start_ns"].to_list()[::4] == [
        1_761_616_798_250_000_000,
        1_761_616_801_500_000_000,
    ]
    metrics = snapshot(Path("lake")).scan(TrainingMetrics).collect().sort("step")
    assert metrics.select("loss", "skipped").rows() == [
        (11.75, False),
        (10.5, False),
        (None, True),
    ]
    assert metrics.select(pl.col("step").sum()).item() == 3


@pytest.mark.parametrize(
    ("zone", "stamp", "told"),
    [
        ('zone = "Europe/Berlin"\n', "2024-01-01 10:00", ("Europe/Berlin", "mapping")),
        ('zone = "Europe/Berlin"\n', "2024-01-01 10:00Z", (None, "none")),
        ("", "2024-01-01 10:00", ("UTC", "assumed")),
    ],
)
def test_a_zone_of_the_mapping_is_told(
    inbox: Path, zone: str, stamp: str, told: tuple[str | None, str]
) -> None:
    stamped = TIMED.replace('unit = "epoch_s"', 'format = "iso8601"')
    (inbox / "mapping.toml").write_text(f"{zone}{stamped}")
    (inbox / "night" / "log.csv").write_text(f"step,rank,t,d\n1,0,{stamp},2\n")
    assert run_tokens(["ingest", "inbox", "--quiet"]) == 0
    (said,) = known_files(Path("lake")).select("zone", "zone_basis").iter_rows()
    assert said == told


def test_a_wrong_field_names_the_mapping(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = TIMED.replace("[map.columns]", 'files = "*.csv"\n[map.columns]')
    (inbox / "mapping.toml").write_text(named.replace('"d"', '"other"'))
    assert run_tokens(["ingest", "inbox"]) == 3
    assert "correct the mapping (mapping in mapping.toml)" in capsys.readouterr().err


def test_a_record_without_a_value_names_the_field(
    inbox: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = TIMED.replace("[map.columns]", 'files = "*.jsonl"\n[map.columns]')
    (inbox / "mapping.toml").write_text(named.replace('"d"', '"other"'))
    lines = '{"step": 1, "rank": 0, "t": 1700000000, "d": 2}\n' * 2
    (inbox / "night" / "log.jsonl").write_text(lines)
    assert run_tokens(["ingest", "inbox"]) == 3
    assert "required at line 1 (no value in other, where the mapping looks" in (
        capsys.readouterr().err
    )
