"""What the pipeline says about a generated cluster, held against its truth."""

import json
from pathlib import Path
from typing import Any

from ingest.synthetic.cluster.scenario import Scenario
from pipeline.cli import run_tokens
from pipeline.generating import Format, Request, generate
from pipeline.logs import silence
from pipeline.querying import rows_of

#: Share by which a straggler's work is longer, and steps it lasts, that must be found.
LEAST_RATIO, LEAST_STEPS = 1.05, 300


def judged(
    scenario: Scenario, folder: Path, form: Format, interval_s: float = 15.0
) -> tuple[Path, dict[str, Any]]:
    """Generate a cluster and run everything over it: its lake, and its truth."""
    generate(scenario, folder / "made", Request(form, interval_s=interval_s), silence)
    lake = folder / "lake"
    made = str(folder / "made" / scenario.run_id)
    assert run_tokens(["run", made, "--lake", str(lake), "--quiet"]) == 0
    assert rows_of(lake, "SELECT * FROM rejected_rows").is_empty()
    return lake, json.loads((folder / "made" / "truth.json").read_text())


def assert_accounts(lake: Path, truth: dict[str, Any]) -> None:
    """Within 2 % each, or 0.05 % of what is paid; together to the nanosecond."""
    query = "SELECT category, sum(gpu_ns)::HUGEINT AS ns FROM lost_time GROUP BY ALL"
    found = {name: int(time) for name, time in rows_of(lake, query).iter_rows()}
    paid, expected = truth["paid_gpu_ns"], truth["accounts_gpu_ns"]["run"]
    assert sum(found.values()) == paid
    for name in found.keys() | expected.keys():
        told, true = found.get(name, 0), expected.get(name, 0)
        assert abs(told - true) <= max(0.02 * true, 0.0005 * paid), (name, told, true)


def assert_stragglers(lake: Path, truth: dict[str, Any]) -> None:
    """Every slow fault is found in its steps, with its cause; nobody else is."""
    found = rows_of(lake, "SELECT * FROM straggler_ranks").to_dicts()
    slow = [one for one in truth["faults"] if one.get("slowdown_ratio")]
    for fault in slow:
        rows = [row for row in found if _is_of(row, fault)]
        if fault["slowdown_ratio"] >= LEAST_RATIO and fault["steps"] >= LEAST_STEPS:
            assert rows, fault
            told = {row["cause"] for row in rows}
            assert fault["cause"] in told, (fault, told)
    assert not [row for row in found if not any(_is_of(row, one) for one in slow)]


def _is_of(row: dict[str, Any], fault: dict[str, Any]) -> bool:
    """Tell whether a straggler is a fault's GPU or host, in steps that felt it."""
    host = row["scope"] == "host" and row["host"] == fault["host"]
    if not host and row["rank"] not in fault["ranks"]:
        return False
    return any(
        row["first_step"] <= one["last_step"] and one["first_step"] <= row["last_step"]
        for one in fault["felt"]
    )
