"""Runs with the scatter of real ones: of GPUs, of steps, and of the run as a whole."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis import Frames
from ingest.tables import StepTimings
from tests.analysis.fleets import START_NS, STEP_NS, Times

Factors = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scatter:
    """How the steps of ranks differ that nothing is wrong with.

    Attributes:
        cv: Step-to-step sd of a rank's own work. [1]
        persistent_sd: Sd of ranks for ever. [1]
        lag: Correlation of a rank's step with its next. [1]
        outlier_share: Share of a rank's steps that are longer by half to nine times.
        is_run_wide: Whether all ranks share the step times of real runs, too.
    """

    cv: float = 0.01
    persistent_sd: float = 0.003
    lag: float = 0.3
    outlier_share: float = 5e-5
    is_run_wide: bool = True


CALM = Scatter()
ROUGH = replace(CALM, cv=0.03)


def own_work(ranks: int, steps: int, seed: int, scatter: Scatter = CALM) -> Times:
    """Own work of each step and rank over that of a healthy one. [1]"""
    from scipy.signal import lfilter

    draw = np.random.default_rng(seed)
    fresh = draw.normal(0, scatter.cv * np.sqrt(1 - scatter.lag**2), (steps, ranks))
    fresh[0] /= np.sqrt(1 - scatter.lag**2)
    noise = lfilter([1], [1, -scatter.lag], fresh, axis=0)
    work = np.exp(draw.normal(0, scatter.persistent_sd, ranks) + noise)
    wild = draw.random((steps, ranks)) < scatter.outlier_share
    work[wild] *= draw.uniform(1.5, 10, int(wild.sum()))
    if scatter.is_run_wide:
        work *= run_wide(steps, draw)[:, None]
    times: Times = work
    return times


def run_wide(steps: int, draw: np.random.Generator) -> Factors:
    """What a step of all ranks takes over the run's median, as in real runs. [1]

    A narrow core; in 5 % of the steps an event of fixed cost, which makes the times
    bimodal; a burst of three long steps; one-sided outliers; a long first step.
    """
    factor: Factors = np.exp(draw.normal(0, 0.009, steps))
    factor[draw.random(steps) < 0.05] += draw.uniform(0.3, 0.5)
    wild = draw.random(steps) < 0.002
    factor[wild] *= draw.uniform(2, 9, int(wild.sum()))
    burst = int(draw.integers(0, max(steps - 3, 1)))
    factor[burst : burst + 3] *= draw.uniform(2, 5)
    factor[0] *= draw.uniform(10, 100)
    return factor


def frames_of(work: Times, present: npt.NDArray[np.bool_] | None = None) -> Frames:
    """The step log of ranks that wait for the slowest; what is not present is lost."""
    own = np.rint(work * STEP_NS).astype(np.int64)
    duration = own.max(axis=1, keepdims=True) + 10_000_000
    start = START_NS + np.concatenate([[0], np.cumsum(duration[:-1, 0])])
    step, rank = np.indices(own.shape, dtype=np.int32)
    log = pl.DataFrame(
        {
            "step": step.ravel().astype(np.int64),
            "rank": rank.ravel(),
            "start_ns": np.repeat(start, own.shape[1]),
            "duration_ns": np.repeat(duration, own.shape[1]),
            "wait_ns": (duration - own).ravel(),
        }
    )
    told = log.lazy().with_columns(
        file_id=pl.lit("log"),
        run_id=pl.lit("run"),
        attempt=pl.lit(0, pl.Int32),
        wait_scope=pl.lit("all"),
        scope=pl.lit("rank"),
        clock=pl.lit("host"),
        step_count=pl.lit(1, pl.Int64),
        **{
            name: pl.lit(None, pl.Int64)
            for name in ("compute_ns", "communication_ns", "data_ns", "checkpoint_ns")
        },
    )
    if present is not None:
        told = told.filter(pl.lit(pl.Series(present.ravel())))
    return Frames({StepTimings: told})
