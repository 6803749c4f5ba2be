"""`gpuledger plan` of cards whose numbers do not fit each other."""

import json
from pathlib import Path

import pytest

from pipeline.cli import run_tokens

#: 6 x 1e12 x 1e6 FLOPs a step, on 16 GPUs of 100 TFLOP/s in 0.3 s: 12 500 peaks.
IMPOSSIBLE = """
peak_tflops = 100
[training]
parameters = 1e12
tokens_per_step = 1_000_000
step_s = 0.3
"""

#: A save of most of a year, with a failure in less than a day.
STUCK = """
[checkpoints]
stall_s = 3e7
interval_s = 60
[reliability]
per_1000_node_days = 650
"""


@pytest.mark.parametrize(
    ("fields", "line", "says"),
    [
        (IMPOSSIBLE, "mfu", "impossible: 12500 times the peak"),
        (STUCK, "best_interval_saves_a_day", "cannot make progress"),
    ],
)
def test_what_cannot_be_is_said_to_be_that(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fields: str,
    line: str,
    says: str,
) -> None:
    path, lake = tmp_path / "run.toml", str(tmp_path / "lake")
    path.write_text(f"[hardware]\ngpus = 16\n{fields}")
    asked = ["plan", str(path), "--lake", lake, "--format", "json", "--quiet"]
    assert run_tokens(asked) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows[line]["value"] is None
    assert says in rows[line]["note"]
