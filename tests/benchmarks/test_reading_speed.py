"""Reading the largest formats beside a plain decode of the same bytes.

Nsight Systems: 1 M kernels and their launches against sqlite3 fetching the same
columns. CSV: a step table of 1 M rows against a scan by Polars that decodes every cell.
(JSON: test_kineto_speed.py.) Each runs in a process of its own: the ratios count, and
those of processor time most, which other work on the machine changes least.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.bench_history import Row

pytestmark = pytest.mark.benchmark

HERE = Path(__file__).parent

ROWS = 1_000_000

#: Runs of which the median counts.
RUNS = 2

#: Most that reading may take in processor time, as often the plain decode. Reading also
#: links, names and places every row; CSV's decode alone is Polars' own.
MOST = {"nsight": 4.0, "csv": 6.0}

#: Peak of memory. [MB]
PEAK_MB = 400

Told = dict[str, float]
AddRow = Callable[[Row], None]


def run(script: str, *arguments: object) -> Told:
    """Run a script of this folder and return what it tells on its last line."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


def median(script: str, path: Path) -> Told:
    """Return the medians of several runs."""
    runs = [run(script, path) for _ in range(RUNS)]
    return {name: statistics.median(one[name] for one in runs) for name in runs[0]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("reading")
    yield made
    for path in made.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    ("kind", "name"), [("nsight", "report.sqlite"), ("csv", "steps.csv")]
)
def test_reading_beside_a_plain_decode(
    folder: Path, kind: str, name: str, add_row: AddRow
) -> None:
    path = folder / name
    run("_reading_made.py", kind, path, ROWS)
    ours, plain = (median(f"_reading_{one}.py", path) for one in ("ours", "plain"))
    ratio = ours["cpu_s"] / plain["cpu_s"]
    sys.stdout.write(
        f"\n{kind}: {ROWS:,} rows, {path.stat().st_size / 1e6:.0f} MB\n"
        f"  reading      {ours['total_s']:6.2f} s {ours['cpu_s']:6.2f} s CPU"
        f" {ours['peak_mb']:5.0f} MB\n"
        f"  plain decode {plain['total_s']:6.2f} s {plain['cpu_s']:6.2f} s CPU"
        f" {plain['peak_mb']:5.0f} MB\n"
        f"  x {ours['total_s'] / plain['total_s']:.2f} time, x {ratio:.2f} CPU\n"
    )
    rate = f"{ROWS / ours['total_s'] / 1e6:.2f} M rows/s"
    cost, peak = ours["cpu_s"], ours["peak_mb"]
    add_row(
        Row(
            f"read {kind}",
            f"{ROWS:,} rows",
            cost,
            rate,
            "plain decode",
            plain["cpu_s"],
            peak,
        )
    )
    assert ours["rows"] >= ROWS
    assert ours["peak_mb"] <= PEAK_MB
    assert ratio <= MOST[kind]
