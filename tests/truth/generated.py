"""What the pipeline says about a generated cluster, held against its truth."""

import json
from pathlib import Path
from typing import Any, Final

from ingest.synthetic.cluster.scenario import Scenario
from pipeline.cli import run_tokens
from pipeline.generating import Format, Request, generate
from pipeline.logs import silence
from pipeline.querying import rows_of

#: Share by which a straggler's work is longer, and steps it lasts, that must be found.
LEAST_RATIO, LEAST_STEPS = 1.05, 300

#: What an account may be off: of itself, or of all that is paid for. [1]
OF_ACCOUNT, OF_PAID = 0.02, 0.0005

#: Where the operators' list of stops is in a run's folder.
LIST: Final = Path("slurm") / "interruptions.csv"

Truth = dict[str, Any]


def judged(
    scenario: Scenario, folder: Path, form: Format, interval_s: float = 15.0
) -> tuple[Path, Truth]:
    """Generate a cluster and run everything over it: its lake, and its truth."""
    made, truth = made_files(scenario, folder, form, interval_s)
    lake = folder / "lake"
    assert run_tokens(["run", str(made), "--lake", str(lake), "--quiet"]) == 0
    assert rows_of(lake, "SELECT * FROM rejected_rows").is_empty()
    return lake, truth


def made_files(
    scenario: Scenario, folder: Path, form: Format, interval_s: float
) -> tuple[Path, Truth]:
    """Generate a cluster: the folder of its run, and its truth."""
    generate(scenario, folder / "made", Request(form, interval_s=interval_s), silence)
    truth = json.loads((folder / "made" / "truth.json").read_text())
    return folder / "made" / scenario.run_id, truth


def analysed(path: Path, lake: Path) -> None:
    """Ingest and analyse files, all of which must be taken."""
    for tokens in (["ingest", str(path)], ["analyze"]):
        assert run_tokens([*tokens, "--lake", str(lake), "--quiet"]) == 0
    assert rows_of(lake, "SELECT * FROM rejected_rows").is_empty()


def assert_accounts(lake: Path, truth: Truth) -> None:
    """Within 2 % each, or 0.05 % of what is paid; together to the nanosecond."""
    query = "SELECT category, sum(gpu_ns)::HUGEINT AS ns FROM lost_time GROUP BY ALL"
    found = {name: int(time) for name, time in rows_of(lake, query).iter_rows()}
    paid, expected = truth["paid_gpu_ns"], truth["accounts_gpu_ns"]["run"]
    assert sum(found.values()) == paid
    for name in found.keys() | expected.keys():
        told, true = found.get(name, 0), expected.get(name, 0)
        most = max(OF_ACCOUNT * true, OF_PAID * paid)
        assert abs(told - true) <= most, (name, told, true)


def assert_stragglers(lake: Path, truth: Truth) -> None:
    """Every slow fault is found in its steps, with its cause; nobody else is."""
    found = rows_of(lake, "SELECT * FROM straggler_ranks").to_dicts()
    slow = [one for one in truth["faults"] if one.get("slowdown_ratio")]
    for fault in slow:
        rows = [row for row in found if _is_of(row, fault)]
        if is_to_be_found(fault):
            assert rows, fault
            told = {row["cause"] for row in rows}
            assert fault["cause"] in told, (fault, told)
    assert not [row for row in found if not any(_is_of(row, one) for one in slow)]


def assert_measured(lake: Path, truth: Truth) -> None:
    """What must be found is dated, as bad and as dear as it is.

    Within a block of ten steps, 1 % of its slowdown and 2 % of its cost alone; 25 % of
    a link's, of which whoever is done with his work later hides a part.
    """
    found = rows_of(lake, "SELECT * FROM straggler_ranks").to_dicts()
    for fault in filter(is_to_be_found, truth["faults"]):
        (row,) = (row for row in found if _is_of(row, fault))
        (felt,) = fault["felt"]
        assert abs(row["first_step"] - felt["first_step"]) <= 10
        assert abs(row["last_step"] - felt["last_step"]) <= 10
        assert abs(row["slowdown_ratio"] - fault["slowdown_ratio"]) <= 0.01
        lost, cost = int(row["lost_gpu_ns"]), fault["solo_gpu_ns"]
        most = 0.25 if fault["cause"] == "slow_link" else 0.02
        assert abs(lost - cost) <= most * cost, (lost, cost)


def is_to_be_found(fault: dict[str, Any]) -> bool:
    """Tell whether a fault is so bad, and lasts so long, that it must be found."""
    ratio = fault.get("slowdown_ratio") or 0
    return ratio >= LEAST_RATIO and fault["steps"] >= LEAST_STEPS


def assert_stops(lake: Path, truth: Truth, *, listed: bool) -> None:
    """Every stop is found with its times and its cause, and there are no others.

    Args:
        lake: The lake.
        truth: The truth.
        listed: Whether the operators' list of stops is in the lake. Without it a cause
            is what the driver printed, or what the scheduler did.
    """
    rows = rows_of(lake, "SELECT * FROM interruptions ORDER BY attempt").to_dicts()
    stops = truth["interruptions"]
    assert [row["attempt"] for row in rows] == [one["attempt"] for one in stops]
    times = ("last_step_end_ns", "requeued_ns", "started_ns", "first_step_ns")
    for row, stop in zip(rows, stops, strict=True):
        cause, component = _told(stop, listed=listed)
        assert cause in row["cause"], (row["cause"], stop)
        assert row["component"] == component
        assert row["planned"] == stop["planned"]
        # of an attempt that ended before its first step nothing is told
        has_steps = stop["last_step_end_ns"] is not None
        assert row["lost_steps"] == (stop["repeated_steps"] if has_steps else None)
        assert {name: row[name] for name in times} == {
            name: stop[name] for name in times
        }


def _told(stop: dict[str, Any], *, listed: bool) -> tuple[str, str | None]:
    """Return words of the cause of a stop, and the component that is blamed."""
    if stop["cause"] == "Preempted":
        return "job state PREEMPTED", None
    known = None if stop["component"] == "unknown" else stop["component"]
    if listed:
        return f": {stop['cause']}", known
    if stop["xid"] is not None:
        return f"xid {stop['xid']}: ", known
    return "no failure on its nodes", None


def _is_of(row: dict[str, Any], fault: dict[str, Any]) -> bool:
    """Tell whether a straggler is a fault's GPU or host, in steps that felt it."""
    host = row["scope"] == "host" and row["host"] == fault["host"]
    if not host and row["rank"] not in fault["ranks"]:
        return False
    return any(
        row["first_step"] <= one["last_step"] and one["first_step"] <= row["last_step"]
        for one in fault["felt"]
    )
