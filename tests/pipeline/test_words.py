"""Words of a command line that begin like options and are none."""

from pathlib import Path

import pytest

from pipeline._words import told_apart
from pipeline.cli import run_tokens


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["sql", "-- a\nSELECT 1"], ["sql", " -- a\nSELECT 1"]),
        (["sql", "--a\nSELECT 1 = 1"], ["sql", " --a\nSELECT 1 = 1"]),
        (["sql", "--\nSELECT 1"], ["sql", " --\nSELECT 1"]),
        (["sql", "--lake=a b", "SELECT 1"], ["sql", "--lake=a b", "SELECT 1"]),
        (["sql", "--lake", "L", "--", "-x"], ["sql", "--lake", "L", "--", "-x"]),
        (["compact", "--keep-raw", "-1d"], ["compact", "--keep-raw=-1d"]),
        (["report", "-o", "-1d"], ["report", "-o", "-1d"]),
        (["run", "a", "-1d"], ["run", "a", "-1d"]),
    ],
)
def test_options_stay_and_other_words_do_not_look_like_them(
    tokens: list[str], words: list[str]
) -> None:
    assert told_apart(tokens) == words


def test_a_query_may_begin_with_a_comment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = tmp_path / "steps.csv"
    steps.write_text("step,rank,start_ns,duration_ns\n0,0,1700000000000000000,900\n")
    lake = str(tmp_path / "lake")
    assert run_tokens(["ingest", str(steps), "--lake", lake, "--quiet"]) == 0
    capsys.readouterr()
    for comment in ("-- steps by rank", "--", "--steps", "/* steps */", "-- a\n-- b"):
        query = f"{comment}\nSELECT rank, count(*) AS n FROM step_timings GROUP BY 1;"
        for tokens in (["sql", query, "--lake", lake], ["sql", "--lake", lake, query]):
            assert run_tokens([*tokens, "--format", "csv"]) == 0
            assert capsys.readouterr().out == "rank,n\n0,1\n"


def test_a_value_below_zero_is_told_what_is_expected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_tokens(["compact", "--keep-raw", "-1d"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("gpuledger: keep_raw '-1d': expected whole UTC days, such")
