"""Make steps of a large pipeline, read them and simulate them; print as JSON.

16 stages of 2 chunks, 128 replicas, 16 micro-batches, interleaved: 399,360 operations
a step. The peers work on the same rows and arrays: Polars sorts the rows by launch, and
NumPy adds two arrays of all lengths.
"""

import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl
from _peak import peak_mb  # type: ignore[import-not-found]

from analysis._replay import Replay, replays_of
from analysis._replay_scenarios import Scenarios
from analysis._replay_slowdowns import slowdowns_of
from analysis.attempts import Attempts
from ingest.synthetic.pipeline import Pipeline, operations, simulate

PLAN = Pipeline(stages=16, microbatches=16, chunks=2, replicas=128, sd=0.01)


def make(path: Path, steps: int) -> None:
    """Write the operations of some steps."""
    plan = Pipeline(
        stages=PLAN.stages,
        microbatches=PLAN.microbatches,
        chunks=PLAN.chunks,
        replicas=PLAN.replicas,
        sd=PLAN.sd,
        steps=steps,
    )
    operations(simulate(plan)).write_parquet(path)


def taken(work: Callable[[], object]) -> float:
    """Return the processor time of some work. [s]"""
    began = time.process_time()
    work()
    return time.process_time() - began


def peak_of(work: Callable[[], object]) -> float:
    """Return how much memory some work takes at its peak. [MB]"""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main(path: Path, most: int) -> None:
    """Tell what reading, one simulation and all of an analysis take."""
    scan = pl.scan_parquet(path)
    began = time.process_time()
    (replay,) = replays_of(scan, Attempts.create_empty().lazy(), most)
    read_s = time.process_time() - began
    assert isinstance(replay, Replay), replay
    read_mb = peak_mb()
    own = replay.own_ns()
    scenarios = Scenarios.of(replay)
    off = replay.step_times(own) - replay.actual_steps()["actual_ns"].to_numpy()
    told = {
        "operations": replay.operations.height,
        "steps": len(replay.steps),
        "off_ns": int(abs(off).max()),
        "read_s": read_s,
        "simulate_s": taken(lambda: replay.step_times(own)),
        "slowdowns_s": taken(lambda: slowdowns_of(scenarios)),
        "add_s": taken(lambda: own + own),
        "simulate_mb": peak_of(lambda: replay.step_times(own)),
        "read_mb": read_mb,
    }
    rows = scan.collect()
    order = ("step", "rank", "kind", "start_ns")
    told["sort_s"] = taken(lambda: rows.sort(order))
    sys.stdout.write("\n" + json.dumps(told))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(Path(sys.argv[2]), int(sys.argv[3]))
