"""Simulating a large pipeline: how time and memory grow with its steps.

A step of 16 stages x 128 replicas x 16 micro-batches, interleaved. Each number of steps
runs in a process of its own; ratios of processor time count.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark

SCRIPT = Path(__file__).parent / "_replay_ours.py"

#: Steps, the last of them more than are held at once.
STEPS = (1, 2, 5, 10, 20)

#: Operations to hold at once: those of twelve steps and a half.
MOST = 5_000_000

#: Runs of which the median counts.
RUNS = 1

#: Most that a step may take among ten, as often as alone.
MOST_GROWTH = 2.0

#: Most that reading may take, as often as Polars takes to sort the rows by launch: it
#: also finds what every step has in common, and which transfer meets which.
MOST_SORTS = 4.0

#: Most that a simulation may take, as often as NumPy takes to add two arrays of all
#: lengths: it reads lengths and ends of what is waited for, and writes ends.
MOST_ADDS = 60.0

#: Most that a simulation may hold, as often as the lengths of one portion of steps.
MOST_PORTIONS = 4.0

#: Lengths in a portion, or a step, where that is more. [MB]
PORTION_MB = 4_000_000 * 8 / 1e6

Told = Mapping[str, float]


def run(*arguments: object) -> str:
    """Run the script on one thread and return what it writes."""
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    alone = os.environ | {"POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=alone
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def median(path: Path) -> Told:
    """Return the medians of several runs."""
    runs = [json.loads(run("read", path, MOST).splitlines()[-1]) for _ in range(RUNS)]
    return {name: statistics.median(one[name] for one in runs) for name in runs[0]}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Told]:
    """What each number of steps takes."""
    found = {}
    for steps in STEPS:
        path = tmp_path_factory.mktemp("replay") / "operations.parquet"
        run("make", path, steps)
        found[steps] = median(path)
        path.unlink()
        shown = " ".join(f"{name} {value:,.3f}" for name, value in found[steps].items())
        sys.stdout.write(f"\n{steps} steps: {shown}")
    return found


def test_the_simulation_gives_the_steps_as_they_were(
    told: Mapping[int, Told],
) -> None:
    assert all(one["off_ns"] == 0 for one in told.values())


@pytest.mark.parametrize("part", ["read_s", "simulate_s", "slowdowns_s"])
def test_a_step_among_ten_takes_no_longer_than_alone(
    told: Mapping[int, Told], part: str
) -> None:
    alone = told[1][part]
    for steps in (2, 5, 10):
        assert told[steps][part] / steps <= MOST_GROWTH * alone


def test_reading_beside_sorting(told: Mapping[int, Told]) -> None:
    assert told[10]["read_s"] <= MOST_SORTS * told[10]["sort_s"]


def test_simulating_beside_adding(told: Mapping[int, Told]) -> None:
    assert told[10]["simulate_s"] <= MOST_ADDS * told[10]["add_s"]


def test_a_simulation_holds_a_portion_of_steps(told: Mapping[int, Told]) -> None:
    """Beside the lengths, which ten steps have ten times of, little more."""
    assert all(
        one["simulate_mb"] <= MOST_PORTIONS * PORTION_MB for one in told.values()
    )


def test_more_steps_than_are_held_are_passed_over(told: Mapping[int, Told]) -> None:
    """Of twenty steps every other is held: memory is that of ten."""
    assert told[20]["steps"] == 10
    assert told[20]["read_mb"] <= MOST_GROWTH * told[10]["read_mb"]
