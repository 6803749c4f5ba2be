"""`gpuledger generate`: files that are taken whole, and the truth beside them."""

import json
from pathlib import Path

import pytest

from ingest.errors import SettingError
from ingest.synthetic.cluster.scenario import Fleet, Layout, Scenario
from pipeline.cli import run_tokens
from pipeline.generating import Format, Request, generate
from pipeline.logs import silence
from pipeline.querying import rows_of

SMALL = Scenario(run_id="small", fleet=Fleet(hosts=2), layout=Layout(tp=8, dp=2))


@pytest.mark.parametrize("form", ["raw", "parquet"])
def test_what_is_generated_is_ingested_whole(tmp_path: Path, form: Format) -> None:
    written = generate(SMALL, tmp_path, Request(form, hours=0.5, traces=1), silence)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["fleet"]["ranks"] == 16
    lake = tmp_path / "lake"
    tokens = ["ingest", str(tmp_path / "small"), "--lake", str(lake), "--quiet"]
    assert run_tokens(tokens) == 0
    counts = rows_of(
        lake,
        "SELECT (SELECT count(*) FROM rejected_rows) AS refused,"
        " (SELECT count(*) FROM step_timings WHERE start_ns IS NOT NULL) AS steps,"
        " (SELECT count(*) FROM power_samples) AS power,"
        " (SELECT count(*) FROM checkpoints) AS saves",
    ).row(0, named=True)
    assert counts["refused"] == 0
    assert counts["steps"] >= written.steps > 0
    assert counts["power"] == written.power > 0
    assert counts["saves"] == written.checkpoints > 0


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "any").touch()
    with pytest.raises(SettingError, match="there already"):
        generate(SMALL, tmp_path, Request(hours=0.1), silence)


def test_hours_are_above_nothing(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="--hours"):
        generate(SMALL, tmp_path, Request(hours=0), silence)
