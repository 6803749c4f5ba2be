"""Reading a trace and measuring its overlap, beside a peer and a plain decoder.

The peer is HolisticTraceAnalysis 0.5.0, which needs an environment of its own:

    python3 -m venv hta
    hta/bin/pip install HolisticTraceAnalysis==0.5.0
    GPULEDGER_HTA_PYTHON=hta/bin/python python -m pytest -s -m benchmark \\
        tests/benchmarks/test_kineto_speed.py

Without it, what compares with it is skipped. Each runs in a process of its own, one
after the other, over the same file: the ratios are what counts.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.bench_history import Row

pytestmark = pytest.mark.benchmark

HERE = Path(__file__).parent

#: The real trace with collectives that is repeated: 40,573 events, 9.8 MB.
SOURCE = "nccl_parser_config/nccl_data.json.gz"

#: Copies that make about 1 M events and 250 MB, and about 4.2 M events and 1 GB.
SMALL, LARGE = 25, 103

#: What reading and overlap together must be faster than the peer.
FASTER = 15

#: Peak of memory, and how much more it may be for the large trace.
PEAK_MB = 400
GROWTH = 1.10

#: Runs of which the median counts; the peer takes half a minute and runs once.
RUNS = 2

Told = dict[str, float]
AddRow = Callable[[Row], None]


def run(script: str, *arguments: object, python: str = sys.executable) -> Told:
    """Run a script of this folder and return what it tells on its last line."""
    command = [python, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


def median(script: str, trace: Path) -> Told:
    """Return the medians of several runs."""
    runs = [run(script, trace) for _ in range(RUNS)]
    return {name: statistics.median(one[name] for one in runs) for name in runs[0]}


def line(name: str, told: Told, base: Told) -> str:
    """Return a line of the table: seconds, memory, and how often the base's."""
    return (
        f"{name:<34} {told['total_s']:8.2f} s {told['cpu_s']:8.2f} s CPU"
        f" {told['peak_mb']:7.0f} MB  x {told['total_s'] / base['total_s']:6.2f} time"
        f"  x {told['peak_mb'] / base['peak_mb']:5.2f} memory"
    )


@pytest.fixture(scope="module")
def traces(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Path]]:
    (source,) = (shared / "data/kineto").rglob(SOURCE)
    folder = tmp_path_factory.mktemp("traces")
    written = (folder / "rank0_small.json", folder / "rank0_large.json")
    for path, copies in zip(written, (SMALL, LARGE), strict=True):
        run("_kineto_trace.py", source, path, copies)
    yield written
    for path in written:
        path.unlink()


@pytest.fixture(scope="module")
def ours(traces: tuple[Path, Path]) -> Told:
    return median("_kineto_ours.py", traces[0])


def row(what: str, told: Told, peer: str, other: Told) -> Row:
    """Return a row of the table: whole traces, on the clock."""
    rate = f"{told['kernels'] / told['total_s'] / 1e3:.0f} k kernels/s"
    size = f"{told['kernels']:,.0f} kernels"
    return Row(what, size, told["cpu_s"], rate, peer, other["cpu_s"], told["peak_mb"])


def test_speed_and_memory(
    traces: tuple[Path, Path], ours: Told, add_row: AddRow
) -> None:
    small, large = traces
    plain = median("_kineto_plain.py", small)
    larger = run("_kineto_ours.py", large)
    megabytes = [path.stat().st_size / 1e6 for path in traces]
    sys.stdout.write(
        "\n".join(
            [
                f"\n{plain['events']:,.0f} events, {megabytes[0]:.0f} MB of JSON",
                line("parse and overlap", ours, ours),
                line("  of which parse", ours | {"total_s": ours["parse_s"]}, ours),
                line("msgspec, decode only", plain, ours),
                line(f"parse and overlap, {megabytes[1]:.0f} MB", larger, ours),
                "",
            ]
        )
    )
    add_row(row("Kineto: read and overlap", ours, "msgspec decodes it", plain))
    assert ours["peak_mb"] <= PEAK_MB
    assert larger["peak_mb"] <= GROWTH * ours["peak_mb"]
    assert larger["kernels"] == ours["kernels"] / SMALL * LARGE


def test_faster_than_the_peer(
    traces: tuple[Path, Path], ours: Told, add_row: AddRow
) -> None:
    python = os.environ.get("GPULEDGER_HTA_PYTHON")
    if not python:
        pytest.skip("GPULEDGER_HTA_PYTHON names no Python with HolisticTraceAnalysis")
    peer = run("_kineto_hta.py", traces[0], python=python)
    sys.stdout.write(
        "\n".join(
            [
                "",
                line("HolisticTraceAnalysis 0.5.0", peer, ours),
                f"overlap here: {ours['overlap_percent']:.3f} %, all work counted",
                f"and there: {peer['overlap_percent']:.3f} %, not in the last step",
                "",
            ]
        )
    )
    add_row(row("Kineto: read and overlap (HTA)", ours, "HolisticTraceAnalysis", peer))
    assert peer["total_s"] >= FASTER * ours["total_s"]
