"""The main job over a generated fleet, stage by stage, each beside a peer or a limit.

Usually 512 GPUs for four hours, 1.2 M rows of steps and 0.5 M of power; BENCH_SCALE
makes more of its nodes. Each stage and each peer is a program of its own, one after the
other. Ratios are of processor time, which other work on the machine changes least.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.bench_history import Row, python_of, scale

pytestmark = pytest.mark.benchmark

AddRow = Callable[[Row], None]
Told = dict[str, float]

HOURS = 4.0

#: Nodes of the fleet. [1]
HOSTS = max(round(64 * scale()), 2)

#: Questions that are told apart: rollups, and what reads most.
STAGES = (
    ("step_rollups", "steps"),
    ("straggler_days", "steps"),
    ("power_rollup", "power"),
    ("lost_time", "steps"),
)


#: A question that takes less has nothing to do: what it reads is not there. [s]
LEAST_S = 0.01

#: Traces of two ingests whose memory is compared, and the size of each. [1, B]
FEW, MANY, TRACE_BYTES = 8, 64, 2_000_000

#: Most that the memory of many may be, as often as that of few, which may not yet be
#: all that is ever held: what is left of one batch beside the next. [1]
GROWTH = 2.0


def run(script: str, *arguments: object) -> Told:
    """Run a script of this folder and return what it tells on its last line."""
    done = subprocess.run(
        python_of(script, *arguments), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


class Fleet:
    """A generated fleet, its lake, and what making them took."""

    def __init__(self, folder: Path) -> None:
        self.raw, self.lake = folder / "raw", folder / "lake"
        ours = "_fleet_ours.py"
        self.generated = run(ours, "generate", self.raw, HOSTS, HOURS, "parquet")
        self.ingested = run(ours, "ingest", self.raw / "steps", self.lake)
        self.scanned = run("_fleet_plain.py", "scan", self.raw / "steps")

    def row(self, what: str, told: Told, peer: str, other: Told, of: str) -> Row:
        """Return a row over the rows of a table."""
        rows = self.generated[of]
        return Row(
            what,
            f"{rows:,.0f} rows",
            told["cpu_s"],
            f"{rows / told['total_s'] / 1e6:.2f} M rows/s",
            peer,
            other["cpu_s"],
            told["peak_mb"],
        )


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    return Fleet(tmp_path_factory.mktemp("fleet"))


def test_generating(fleet: Fleet, add_row: AddRow) -> None:
    told = fleet.generated
    drawn = run("_fleet_plain.py", "draw", int(told["rows"]))
    rows = told | {"steps": told["rows"]}
    peer = "a normal number for each"
    row = Row(
        "generate steps and power as Parquet",
        f"{rows['steps']:,.0f} rows",
        told["cpu_s"],
        f"{rows['steps'] / told['total_s'] / 1e6:.2f} M rows/s",
        peer,
        drawn["cpu_s"],
        told["peak_mb"],
    )
    add_row(row)


def test_ingesting_parquet(fleet: Fleet, add_row: AddRow) -> None:
    what = "ingest Parquet steps"
    for peer, work in (
        ("Polars sums all numbers", fleet.scanned),
        (
            "pyarrow reads and writes",
            run("_fleet_plain.py", "copy", fleet.raw / "steps"),
        ),
        ("Polars writes them", run("_fleet_plain.py", "write", fleet.raw / "steps")),
    ):
        add_row(fleet.row(f"{what} ({peer})", fleet.ingested, peer, work, "steps"))


def test_analysing_reporting_asking(fleet: Fleet, add_row: AddRow) -> None:
    run("_fleet_ours.py", "ingest", fleet.raw, fleet.lake)
    told = run("_fleet_ours.py", "analyze", fleet.lake)
    scans = {
        "steps": fleet.scanned,
        "power": run("_fleet_plain.py", "scan", fleet.raw / "power"),
    }
    peer = "Polars sums all numbers"
    for stage, of in STAGES:
        took = told.get(f"{stage}_s", 0.0)
        if took > LEAST_S:
            part = {"cpu_s": took, "total_s": took, "peak_mb": told["peak_mb"]}
            add_row(fleet.row(stage, part, peer, scans[of], of))
    add_row(fleet.row("all analyses", told, peer, scans["steps"], "steps"))
    report = fleet.lake.parent / "report.html"
    made = run("_fleet_ours.py", "report", fleet.lake, report)
    results = run("_fleet_plain.py", "results", fleet.lake)
    few = "small tables read"
    add_row(fleet.row("report", made, few, results, "steps"))
    asked = run("_fleet_ours.py", "queries", fleet.lake)
    add_row(fleet.row("five questions to the catalog", asked, few, results, "steps"))


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_text_steps(tmp_path: Path, add_row: AddRow, kind: str) -> None:
    raw, lake = tmp_path / "raw", tmp_path / "lake"
    hosts, hours = max(HOSTS // 2, 2), HOURS / 2
    wrote = run("_fleet_ours.py", "generate", raw, hosts, hours, kind)
    read = run("_fleet_ours.py", "ingest", raw / "steps", lake)
    plain = run("_fleet_plain.py", kind, raw / "steps")
    size, peer = f"{wrote['steps']:,.0f} rows", "Polars decodes it"
    for what, told in ((f"write {kind} steps", wrote), (f"ingest {kind} steps", read)):
        figure = f"{wrote['steps'] / told['total_s'] / 1e6:.2f} M rows/s"
        row = Row(
            what, size, told["cpu_s"], figure, peer, plain["cpu_s"], told["peak_mb"]
        )
        add_row(row)


def test_memory_of_many_traces(tmp_path: Path, add_row: AddRow) -> None:
    peaks, took = [], {}
    for count in (FEW, MANY):
        folder, lake = tmp_path / f"traces-{count}", tmp_path / f"lake-{count}"
        made = run("_fleet_ours.py", "traces", folder, count, TRACE_BYTES)
        took = run("_fleet_ours.py", "ingest", folder, lake)
        peaks.append(took["peak_mb"])
    size = f"{MANY} traces of {TRACE_BYTES / 1e6:.0f} MB"
    figure = f"{MANY / took['total_s']:.1f} traces/s"
    row = Row(
        "memory of ingesting traces", size, peaks[1], figure, f"{FEW} traces", *peaks
    )
    add_row(row)
    wrote = f"{MANY / made['total_s']:.1f} traces/s"
    add_row(Row("write traces", size, made["cpu_s"], wrote, "ingest", took["cpu_s"], 0))
    assert peaks[1] <= GROWTH * peaks[0]
