"""Telling communication apart, beside measuring overlap alone: time and memory.

A real trace with collectives is repeated to half a million and 2 M events. Each one
runs in a process of its own, one after the other: the ratios are what counts.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.benchmarks.bench_history import scale

pytestmark = pytest.mark.benchmark

HERE: Final = Path(__file__).parent

#: The real trace with collectives that is repeated: 40,573 events, 9.8 MB.
SOURCE: Final = "nccl_parser_config/nccl_data.json.gz"

#: Copies that make about half a million events, and four times as many.
SMALL, LARGE = round(12 * scale()), round(48 * scale())

#: Telling apart takes at most so many times the CPU of overlap alone. [1]
SLOWER: Final = 4

#: Peak of memory with it over that without it, and that of the large trace over that of
#: the small one. [1]
LARGER: Final = 1.15
GROWTH: Final = 1.25

#: Runs of which the median counts.
RUNS = 2

Told = dict[str, float]


def run(script: str, *arguments: object) -> Told:
    """Run a script of this folder and return what it tells on its last line."""
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: Told = json.loads(done.stdout.splitlines()[-1])
    return told


def median(trace: Path, what: str) -> Told:
    """Return the medians of several runs."""
    runs = [run("_overlap_ours.py", trace, what) for _ in range(RUNS)]
    return {name: statistics.median(one[name] for one in runs) for name in runs[0]}


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


def test_telling_groups_apart_stays_near_overlap(traces: tuple[Path, Path]) -> None:
    small, large = traces
    alone, both = median(small, "alone"), median(small, "groups")
    longer = median(large, "groups")
    lines = [
        f"{name:<26} {one['overlap_s']:6.2f} s overlap {one['groups_s']:6.2f} s groups"
        f" {one['peak_mb']:6.0f} MB"
        for name, one in (
            ("overlap alone", alone),
            ("both", both),
            ("both, four times as many", longer),
        )
    ]
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert both["groups_s"] <= SLOWER * both["overlap_s"]
    assert longer["groups_s"] <= SLOWER * longer["overlap_s"]
    assert both["peak_mb"] <= LARGER * alone["peak_mb"]
    assert longer["peak_mb"] <= GROWTH * both["peak_mb"]
    # the same parts in every copy; those of the whole trace once
    assert longer["rows"] > 0
