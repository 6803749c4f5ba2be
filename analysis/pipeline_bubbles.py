"""One row per trace and pipeline stage."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._bubble_phases import bubble_ns
from analysis._bubble_replay import TOLD
from analysis._bubble_traces import ROW, trace_bubbles
from analysis._replay_layouts import Layouts
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.replays import RELIABLE_UP_TO
from analysis.runs import Runs
from ingest.phrases import phrase
from ingest.tables import Operations, Table
from ingest.tables import _columns as c

#: Above this error of the replay its answers are not told. [1]
REPLAY_ERROR_MAX: Final = RELIABLE_UP_TO


class PipelineBubbles(Table):
    """One row per trace and pipeline stage."""

    key: ClassVar = ("run_id", "attempt", "trace_id", "pp_rank")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    trace_id = c.identifier("Trace that was measured.")
    pp_rank = c.index(
        "Pipeline stage; null where the trace does not tell.", nullable=True
    )
    stages = c.number("Stages that the trace shows, p.", nullable=True)
    chunks = c.number("Chunks of layers of a stage, v.", nullable=True)
    microbatches = c.number("Micro-batches of a step and replica, m.", nullable=True)
    steps_count = c.count("Steps measured.")
    rank_steps_count = c.count("Steps of ranks measured.", nullable=True)
    step_ns = c.gpu_time_ns("Time of the stage's ranks in the steps.", nullable=True)
    compute_ns = c.gpu_time_ns("Time in passes forward and backward.", nullable=True)
    bubble_ns = c.gpu_time_ns(
        "Time without a pass, from the first of any stage to the last of any.",
        nullable=True,
    )
    warm_up_ns = c.gpu_time_ns(
        "Part of it before the stage's first pass backward.", nullable=True
    )
    steady_ns = c.gpu_time_ns(
        "Part of it from there to the end of its last pass forward.", nullable=True
    )
    cool_down_ns = c.gpu_time_ns("Part of it after both.", nullable=True)
    bubble_ratio = c.ratio("Bubble over compute of the stage.", nullable=True)
    step_bubble_ratio = c.ratio("Bubble over time in steps.", nullable=True)
    expected_ratio = c.ratio(
        "Bubble over compute of a schedule in balance, (p - 1) / (v m).", nullable=True
    )
    straggler_ns = c.gpu_time_ns(
        "What slow workers and unequal micro-batches add to the bubble, by replay;"
        " negative where they take from it, null where too few replicas tell them"
        " from stages out of balance.",
        nullable=True,
    )
    imbalance_ns = c.gpu_time_ns(
        "What stages out of balance add to the rest of it, by replay; negative where"
        " they take from it.",
        nullable=True,
    )
    uneven_ns = c.gpu_time_ns(
        "Both together: what passes that are not alike add.", nullable=True
    )
    communication_ns = c.gpu_time_ns(
        "What transfers between stages add to the rest of that, by replay.",
        nullable=True,
    )
    replay_error_ratio = c.ratio(
        "How far replayed steps are from measured ones.", nullable=True
    )
    reason = c.text("Why something is not told, or what contradicts the run card.")


def measure_bubbles(
    operations: dy.LazyFrame[Operations],
    attempts: dy.LazyFrame[Attempts],
    runs: dy.LazyFrame[Runs],
    replay_error_max: float = REPLAY_ERROR_MAX,
    gpus: dy.LazyFrame[Gpus] | None = None,
) -> dy.DataFrame[PipelineBubbles]:
    """Measure how long pipeline stages compute nothing, and what adds to that.

    The expected ratio is that of one forward, one backward with stages in balance, of
    p stages, v chunks and m micro-batches that the trace itself shows (Narayanan et
    al., arXiv 2104.04473); a run card that says otherwise is named.

    Args:
        operations: Traced operations.
        attempts: Attempts, for traces that do not tell theirs.
        runs: Runs, with the layout of their cards.
        replay_error_max: Error of the replay above which its answers are not told. [1]
        gpus: GPUs, for traces that do not tell the stage of a rank.

    Returns:
        One row per trace and stage, in the order of the key.
    """
    layouts = Layouts(runs, Gpus.create_empty().lazy() if gpus is None else gpus)
    parts = list(trace_bubbles(operations, attempts, layouts))
    rows = pl.concat(parts).lazy() if parts else _nothing()
    told = _without_poor_replays(rows, replay_error_max)
    checked = _against_cards(_with_ratios(told), runs)
    found = checked.select(PipelineBubbles.column_names()).sort(PipelineBubbles.key)
    return PipelineBubbles.validate(found.collect(), cast=True)


def _nothing() -> pl.LazyFrame:
    schema = PipelineBubbles.create_empty().schema
    return pl.LazyFrame(schema={name: schema[name] for name in ROW})


def _without_poor_replays(rows: pl.LazyFrame, error_max: float) -> pl.LazyFrame:
    is_poor = (pl.col("replay_error_ratio") > error_max).fill_null(value=False)
    percent = (pl.col("replay_error_ratio") * 100).round(1).cast(pl.String)
    text = phrase("not told by replay: its steps are {} % from those measured", percent)
    return rows.with_columns(
        *[pl.when(~is_poor).then(name).alias(name) for name in TOLD],
        reason=_joined(pl.col("reason"), pl.when(is_poor).then(text)),
    )


def _with_ratios(rows: pl.LazyFrame) -> pl.LazyFrame:
    bubble, computed = bubble_ns(), pl.col("compute_ns")
    waited, took, passed = (
        one.cast(pl.Float64) for one in (bubble, pl.col("step_ns"), computed)
    )
    batches = pl.col("chunks") * pl.col("microbatches")
    known = computed.is_not_null()
    return rows.with_columns(
        bubble_ns=pl.when(known).then(bubble),
        bubble_ratio=pl.when(computed > 0).then(waited / passed),
        step_bubble_ratio=pl.when(pl.col("step_ns") > 0).then(waited / took),
        expected_ratio=pl.when(batches > 0).then((pl.col("stages") - 1) / batches),
    )


def _against_cards(rows: pl.LazyFrame, runs: pl.LazyFrame) -> pl.LazyFrame:
    """Name what the run card says of the layout otherwise; nothing is expected then."""
    card = runs.select(
        "run_id", _stages="pp", _chunks="vpp", _microbatches="microbatches"
    )
    joined = rows.join(card, on="run_id", how="left")
    names = {"stages": "stages", "chunks": "chunks", "microbatches": "micro-batches"}
    differ = [
        pl.when(pl.col(name) != pl.col(f"_{name}")).then(
            phrase(
                f"the run card says {{}} {words}, the trace shows {{}}",
                pl.col(f"_{name}").cast(pl.String),
                pl.col(name).cast(pl.String),
            )
        )
        for name, words in names.items()
    ]
    contradiction = _joined(*differ)
    is_told = contradiction.is_null()
    return joined.with_columns(
        expected_ratio=pl.when(is_told).then("expected_ratio"),
        reason=_joined(pl.col("reason"), contradiction),
    )


def _joined(*texts: pl.Expr) -> pl.Expr:
    """Return texts one after the other, null where there is none."""
    whole = pl.concat_str(texts, separator="; ", ignore_nulls=True)
    return pl.when(pl.any_horizontal(one.is_not_null() for one in texts)).then(whole)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    found = measure_bubbles(
        frames[Operations],
        frames[Attempts],
        frames[Runs],
        thresholds["replay_error_max"],
        frames[Gpus],
    )
    return {PipelineBubbles: found}


ANALYSIS: Final = Analysis(
    name="pipeline_bubbles",
    version=3,
    describes="How long pipeline stages compute nothing, and what adds to that",
    inputs=(Operations, Attempts, Runs, Gpus),
    needs=(Operations,),
    outputs=(PipelineBubbles,),
    compute=_compute,
    thresholds={"replay_error_max": REPLAY_ERROR_MAX},
)
