"""Fleets whose GPUs differ a little for ever, as real ones do, and their step logs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis import Frames, Results
from analysis.gpus import Gpus
from analysis.stragglers import find_stragglers
from ingest.tables import StepTimings, Table

#: A healthy step. [ns]
STEP_NS = 1_000_000_000

START_NS = 1_700_000_000 * STEP_NS

Times = npt.NDArray[np.float64]


def healthy(ranks: int, steps: int, seed: int, stages: int = 1) -> Times:
    """Own work of each step and rank over that of a healthy one.

    A persistent sd of 0.3 %, a step-to-step sd of 0.2 to 0.7 % for each rank, and an
    autocorrelation of 0.4. Stages of a pipeline differ by 20 %.
    """
    draw = np.random.default_rng(seed)
    sd = draw.uniform(0.002, 0.007, ranks)
    noise = draw.normal(0, 1, (steps, ranks))
    for step in range(1, steps):
        noise[step] = 0.4 * noise[step - 1] + np.sqrt(1 - 0.4**2) * noise[step]
    stage = 1 + 0.2 * (np.arange(ranks) % stages) / max(stages - 1, 1)
    work: Times = np.exp(draw.normal(0, 0.003, ranks) + noise * sd) * stage
    return work


def step_log(work: Times, **told: Any) -> pl.DataFrame:
    """The step log of ranks that wait for the slowest and then exchange for 10 ms."""
    own = np.rint(work * STEP_NS).astype(np.int64)
    duration = own.max(axis=1, keepdims=True) + 10_000_000
    start = START_NS + np.concatenate([[0], np.cumsum(duration[:-1, 0])])
    number, rank = np.indices(own.shape)
    columns: dict[str, Any] = {
        "file_id": "log",
        "run_id": "run",
        "attempt": 0,
        "step": number.ravel(),
        "rank": rank.ravel(),
        "start_ns": np.repeat(start, own.shape[1]),
        "duration_ns": np.repeat(duration, own.shape[1]),
        "wait_ns": (duration - own).ravel(),
        "wait_scope": "all",
        "clock": "host",
        "scope": "rank",
        "step_count": 1,
    }
    return table(StepTimings, pl.DataFrame(columns | told))


def table(of: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """Rows as a table declares them; columns that are not told are null."""
    empty = of.create_empty()
    types = [pl.col(name).cast(empty.schema[name]) for name in rows.columns]
    told = pl.concat([empty, rows.select(types)], how="diagonal")
    return of.validate(told.select(empty.columns), cast=True)


def seats(ranks: int, where: Callable[[int], Mapping[str, Any]]) -> pl.DataFrame:
    """Seats of the ranks of an attempt that holds for ever."""
    rows = [
        {
            "run_id": "run",
            "attempt": 0,
            "rank": rank,
            "is_seen": True,
            "from_ns": 0,
            "to_ns": 2 * START_NS,
            **where(rank),
        }
        for rank in range(ranks)
    ]
    return table(Gpus, pl.DataFrame(rows))


def found(
    *frames: tuple[type[Table], pl.DataFrame], portion_rows: int = 1_000_000
) -> Results:
    """What the search for stragglers finds in frames."""
    told = Frames({of: rows.lazy() for of, rows in frames})
    return find_stragglers(told, portion_rows=portion_rows)
