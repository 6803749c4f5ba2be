"""Which source tells of the steps of a run, and what it cannot tell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._clock_shifts import clocks_of
from analysis._straggler_arrivals import arrived_steps
from analysis._straggler_operated import operated_steps
from analysis._straggler_traced import traced_steps
from analysis._straggler_work import COLUMNS, rank_steps
from analysis._unlike_traces import UNLIKE_TRACES, of_one_run, unlike_runs
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from ingest.tables import Collectives, Kernels, Operations, StepTimings

LOG: Final = "step_timings"
TRACES: Final = "traces"
OPERATIONS: Final = "operations"
COLLECTIVES: Final = "collectives"
NONE: Final = "none"

#: What each source cannot tell.
CANNOT_TELL: Final = {
    LOG: "It takes for waiting what the step log calls so.",
    TRACES: "Steps in which some rank was not traced are not compared.",
    OPERATIONS: "Ranks that were not traced, and work outside of passes and the"
    " optimizer, are not seen.",
    COLLECTIVES: "Work that runs beside collectives is not seen, and a slow transfer"
    " looks like waiting.",
    NONE: "In a synchronous step everyone's duration is the same: without waits, nobody"
    " can tell the slow rank.",
}

#: What a step log that sees only the waits of data parallelism cannot tell.
DP_CANNOT_TELL: Final = (
    "It sees the waits of data parallelism alone, and so the slow replica, but not"
    " which of its ranks."
)

_NO_STEPS: Final = {
    "start_ns": pl.Int64,
    "wait_scope": pl.String,
    "data_ns": pl.Int64,
    "transfer_ns": pl.Int64,
}


#: Steps of ranks that a source tells, of runs that no better one does.
_StepsOf = Callable[[Frames, pl.LazyFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Sources:
    """The steps of ranks, and where they come from.

    Attributes:
        steps: Steps of ranks.
        runs: Columns `run_id`, `source` and `cannot_tell`.
    """

    steps: pl.LazyFrame
    runs: pl.DataFrame


def gather(frames: Frames) -> Sources:
    """Take each run's steps from the best source that tells own work from waiting.

    A step log with waits is the best: it has every rank and step. Then come traces of
    kernels and collectives, traces of operations, and collectives alone. Operations of
    several jobs in one run are no source.
    """
    logged = _logged_runs(frames)
    told, taken, runs = logged.select("run_id"), [], [_of_logs(logged)]
    for source, steps_of in _OTHERS:
        steps = _with_all_columns(steps_of(frames, told.lazy()))
        known = steps.filter(pl.col("wait_ns").is_not_null()).select("run_id").unique()
        taken.append(steps)
        runs.append(_named(known, source))
        told = pl.concat([told, known])
    unlike = unlike_runs(frames[Operations]).join(told, on="run_id", how="anti")
    sources = pl.concat([*runs, _unlike(unlike)])
    others = _best(pl.concat(taken), sources)
    every = rank_steps(frames[StepTimings], others.lazy(), frames[Attempts])
    return Sources(every, sources)


def _best(steps: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Keep the steps of each run's source; of runs without one, what was seen."""
    named = steps.join(sources.select("run_id", best="source"), on="run_id", how="left")
    is_best = (pl.col("source") == pl.col("best")).fill_null(value=True)
    return named.filter(is_best).drop("source", "best")


def _logged_runs(frames: Frames) -> pl.DataFrame:
    of_ranks = (StepTimings.scope.col == "rank") & StepTimings.rank.col.is_not_null()
    rows = frames[StepTimings].filter(of_ranks & StepTimings.wait_ns.col.is_not_null())
    sees_dp = (StepTimings.wait_scope.col == "dp").any()
    return rows.group_by("run_id").agg(sees_dp=sees_dp).collect(engine="streaming")


def _of_traces(frames: Frames, told: pl.LazyFrame) -> pl.DataFrame:
    overlap = frames[Overlap].join(told, on="run_id", how="anti")
    collectives = frames[Collectives].join(told, on="run_id", how="anti")
    attempts, clocks = frames[Attempts], clocks_of(frames)
    steps = traced_steps(frames[Kernels], overlap, collectives, attempts, clocks)
    return steps.with_columns(source=pl.lit(TRACES))


def _of_operations(frames: Frames, told: pl.LazyFrame) -> pl.DataFrame:
    others = frames[Operations].join(told, on="run_id", how="anti")
    operations = of_one_run(others)
    steps = operated_steps(operations, frames[Attempts])
    return steps.with_columns(source=pl.lit(OPERATIONS))


def _of_collectives(frames: Frames, told: pl.LazyFrame) -> pl.DataFrame:
    """Leave out runs with kernels: work beside collectives would be missed."""
    with_kernels = frames[Overlap].select("run_id").unique()
    others = frames[Collectives].join(told, on="run_id", how="anti")
    alone = others.join(with_kernels, on="run_id", how="anti")
    steps = arrived_steps(alone, frames[Attempts])
    return steps.with_columns(source=pl.lit(COLLECTIVES))


_OTHERS: Final[tuple[tuple[str, _StepsOf], ...]] = (
    (TRACES, _of_traces),
    (OPERATIONS, _of_operations),
    (COLLECTIVES, _of_collectives),
)


def _with_all_columns(steps: pl.DataFrame) -> pl.DataFrame:
    missing = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in _NO_STEPS.items()
        if name not in steps.columns
    ]
    return steps.with_columns(missing).select(*COLUMNS, "source")


def _of_logs(logged: pl.DataFrame) -> pl.DataFrame:
    said = pl.when("sees_dp").then(pl.lit(DP_CANNOT_TELL))
    return logged.select(
        "run_id",
        source=pl.lit(LOG),
        cannot_tell=said.otherwise(pl.lit(CANNOT_TELL[LOG])),
    )


def _unlike(runs: pl.DataFrame) -> pl.DataFrame:
    said = pl.lit(UNLIKE_TRACES)
    return runs.select("run_id", source=pl.lit(NONE), cannot_tell=said)


def _named(runs: pl.DataFrame, source: str) -> pl.DataFrame:
    said = pl.lit(CANNOT_TELL[source])
    return runs.select("run_id", source=pl.lit(source), cannot_tell=said)
