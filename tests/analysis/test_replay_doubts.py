"""Traces that lack a part, or hold lengths that cannot be: what is not told then."""

from dataclasses import replace
from typing import Any, Final

import polars as pl
import pytest

from analysis._ledger_evidence import traced_work
from analysis._ledger_operated import operated_cells
from analysis._replay import Layouts, Replay, replays_of
from analysis._replay_room import outlasting_steps
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.replays import ANALYSIS, replay_traces
from analysis.runs import Runs
from ingest.synthetic.pipeline import Pipeline, SlowStage, SlowWorker, operations
from ingest.synthetic.pipeline import simulate as simulated
from ingest.tables import Collectives, Kernels, Operations
from tests.analysis.replayed import NO_ATTEMPTS, answers, reason_of, replay_of

pytestmark = pytest.mark.thorough

PLAN: Final = Pipeline(
    stages=4,
    microbatches=8,
    replicas=2,
    steps=4,
    sd=0.03,
    seed=1,
    faults=(SlowWorker(1, 2, 1.5),),
)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Operations of a pipeline in which one worker is slow."""
    return operations(simulated(PLAN))


def layouts(seats: pl.DataFrame | None = None, **card: Any) -> Layouts:
    """What the card of run `r` says, and where its ranks are."""
    runs = pl.DataFrame({"run_id": ["r"], **{key: [one] for key, one in card.items()}})
    blank = Gpus.create_empty().select("run_id", "attempt", "rank", *PLACES, "from_ns")
    gpus = blank if seats is None else seats
    return Layouts(
        pl.concat([Runs.create_empty(), runs], how="diagonal_relaxed").lazy(),
        gpus.lazy(),
    )


PLACES: Final = ("pp_rank", "dp_rank")


def told(rows: pl.DataFrame, known: Layouts) -> dict[str, Any]:
    """The answer for a trace whose card is known."""
    operations_of = Operations.validate(rows, cast=True).lazy()
    found = replay_traces(operations_of, NO_ATTEMPTS, ANALYSIS.thresholds, known)
    (row,) = found[next(iter(found))].to_dicts()
    return row


@pytest.mark.parametrize(
    ("clock", "step", "kind", "length"),
    [
        ("of the trace", 1, "params-all-gather", 60 * 10**9),
        ("of the trace", 1, "optimizer", 10**9),
        ("of the trace", 3, "forward-compute", 10**16),
        ("of the trace", 3, "optimizer", 366 * 86_400 * 10**9),
        ("of the step", 1, "backward-recv", 10**16),
        ("of the step", 3, "params-all-gather", 60 * 10**9),
    ],
)
def test_a_length_that_cannot_be_leaves_its_step_out(
    rows: pl.DataFrame, clock: str, step: int, kind: str, length: int
) -> None:
    # one operation of one rank outlasts its step of 0.4 s and the trace of 1.8 s
    if clock == "of the step":
        first = pl.col("start_ns").min().over("step")
        rows = rows.with_columns(
            offset_ns=pl.col("start_ns") - first, start_ns=pl.lit(None, pl.Int64)
        )
    is_it = (pl.col("step") == step) & (pl.col("rank") == 1) & (pl.col("kind") == kind)
    last = is_it & (pl.col("sequence") == pl.col("sequence").filter(is_it).max())
    wrong = rows.with_columns(
        duration_ns=pl.when(last).then(length).otherwise("duration_ns")
    )
    (row,) = answers(wrong)["Replays"].to_dicts()
    assert row["steps_left_out"] == 1
    assert "1 step left out for lengths that cannot be" in row["reason"]
    usual = replay_of(rows.filter(pl.col("step") != step))
    assert replay_of(wrong).operations.equals(usual.operations)
    if clock == "of the trace":
        cells = operated_cells(wrong.lazy(), NO_ATTEMPTS)
        assert cells["step"].unique().sort().to_list() == list(usual.steps)


def test_what_is_launched_ahead_is_no_contradiction(rows: pl.DataFrame) -> None:
    # all receives of a step are posted at its beginning, and wait until they are met
    first = pl.col("start_ns").min().over("step")
    end = pl.col("start_ns") + pl.col("duration_ns")
    is_ahead = pl.col("kind").str.ends_with("recv")
    posted = first + pl.col("sequence")
    ahead = rows.with_columns(
        start_ns=pl.when(is_ahead).then(posted).otherwise("start_ns"),
        duration_ns=pl.when(is_ahead).then(end - posted).otherwise("duration_ns"),
    )
    assert replay_of(ahead).steps == (0, 1, 2, 3)


def test_lengths_that_are_only_long_stay(rows: pl.DataFrame) -> None:
    # a worker a hundred times as slow, and a step that others wait for
    slow = operations(simulated(replace(PLAN, faults=(SlowWorker(0, 0, 100.0),))))
    assert replay_of(slow).steps == replay_of(rows).steps == (0, 1, 2, 3)
    alone = replace(PLAN, stages=1, replicas=1, steps=1, faults=())
    single = operations(simulated(alone))
    assert replay_of(single).steps == (0,)


def test_where_no_step_is_sound_there_is_a_reason(rows: pl.DataFrame) -> None:
    one = rows.filter(pl.col("step") == 0)
    first = pl.col("kind") == "forward-compute"
    wrong = one.with_columns(
        duration_ns=pl.when(first).then(10**12).otherwise("duration_ns")
    )
    assert reason_of(wrong).startswith("in every step an operation outlasts")


def test_times_at_the_end_of_the_calendar_do_not_wrap() -> None:
    schema = ["step", "rank", "kind", "position", "at_ns", "duration_ns"]
    begun, long = 2**62, 2**63 - 1
    data = [(0, 0, "a", 0, begun, 5), (1, 0, "a", 0, begun + 9, long)]
    data += [(2, 0, "a", 0, begun + 20, 5)]
    drawn = pl.DataFrame(data, schema=schema, orient="row")
    assert outlasting_steps(drawn).to_list() == [1]


@pytest.mark.parametrize("gone", ["a rank", "micro-batches"])
def test_a_missing_replica_leaves_the_cause_undecided(
    rows: pl.DataFrame, gone: str
) -> None:
    is_second = pl.col("dp_rank") == 1
    lost = {
        "a rank": is_second & (pl.col("pp_rank") == 2),
        "micro-batches": is_second & (pl.col("microbatch") >= 5).fill_null(value=False),
    }[gone]
    found = answers(rows.filter(~lost))
    (row,) = found["Replays"].to_dicts()
    assert row["replicas_left_out"] == 1
    assert (row["cause"], row["is_reliable"]) == ("undecided", False)
    assert "1 of 2 replicas missing or left out" in row["reason"]
    assert row["reason"].split(";")[0] in row["evidence"]
    # waits for the other replica are in what its transfers took
    kinds = found["ReplayCells"]["kind"].drop_nulls().to_list()
    assert not {"params-all-gather", "grads-reduce-scatter"} & set(kinds)
    assert "forward-compute" in kinds
    cells = operated_cells(rows.filter(~lost).lazy(), NO_ATTEMPTS)
    assert cells["basis"].unique().to_list() == ["operations_include_wait"]


def test_a_replica_that_only_the_card_knows_is_missing_too(rows: pl.DataFrame) -> None:
    half = rows.filter(pl.col("dp_rank") == 0)
    row = told(half, layouts(pp=4, dp=2))
    assert (row["cause"], row["is_reliable"]) == ("undecided", False)
    assert told(rows, layouts(pp=4, dp=2))["is_reliable"] is True
    assert told(half, layouts(pp=4, dp=1))["is_reliable"] is True


def test_a_cause_that_is_found_stands_beside_a_missing_replica() -> None:
    # stages are as slow in the replicas that are there
    slow = operations(simulated(replace(PLAN, faults=(SlowStage(3, 2.0, 2.0),))))
    half = slow.filter(~((pl.col("dp_rank") == 1) & (pl.col("pp_rank") == 2)))
    (row,) = answers(half)["Replays"].to_dicts()
    assert (row["cause"], row["is_reliable"]) == ("last_stage", False)


def test_without_the_last_stage_it_is_not_the_cause(rows: pl.DataFrame) -> None:
    # the third of four stages is slow, and the fourth has no trace
    slow = operations(simulated(replace(PLAN, faults=(SlowStage(2, 2.0, 2.0),))))
    cut = slow.filter(pl.col("pp_rank") < 3)
    whole = told(cut, layouts(pp=3, dp=2))
    assert whole["cause"] == "last_stage"
    row = told(cut, layouts(pp=4, dp=2))
    assert row["cause"] != "last_stage"
    assert row["m_s_ratio"] is None
    assert row["is_reliable"] is False
    assert "the run card says 4 stages, the trace has 3" in row["reason"]
    assert told(rows, layouts(pp=4, dp=2))["m_s_ratio"] is not None


def test_contradictory_micro_batches_are_told(rows: pl.DataFrame) -> None:
    turned = pl.when(pl.col("pp_rank") == 1).then(7 - pl.col("microbatch"))
    other = rows.with_columns(microbatch=turned.otherwise("microbatch"))
    (row,) = answers(other)["Replays"].to_dicts()
    assert "contradict each other on the micro-batch" in row["reason"]
    for chunks in (1, 2):
        sound = operations(simulated(replace(PLAN, chunks=chunks)))
        assert answers(sound)["Replays"]["reason"].to_list() == [None]
    # where none are told, there is nothing to contradict
    bare = rows.with_columns(microbatch=pl.lit(None, pl.Int32))
    assert answers(bare)["Replays"]["reason"].to_list() == [None]


def test_the_card_tells_the_stage_where_the_trace_does_not(rows: pl.DataFrame) -> None:
    seats = (
        rows.select("rank", *PLACES)
        .unique()
        .with_columns(
            run_id=pl.lit("r"), attempt=pl.lit(0, pl.Int32), from_ns=pl.lit(0, pl.Int64)
        )
    )
    known = layouts(seats, pp=4, dp=2)
    usual = replay_of(rows)
    for names in (PLACES, ("dp_rank",)):
        untold = rows.with_columns(pl.lit(None, pl.Int32).alias(one) for one in names)
        (found,) = replays_of(
            untold.lazy(), Attempts.create_empty().lazy(), layouts=known
        )
        assert isinstance(found, Replay)
        assert found.operations.equals(usual.operations)
        assert "no run card has the layout" in reason_of(untold)
    # what the trace tells counts
    wrong = layouts(seats.with_columns(pp_rank=3 - pl.col("pp_rank")), pp=4, dp=2)
    (found,) = replays_of(rows.lazy(), NO_ATTEMPTS, layouts=wrong)
    assert isinstance(found, Replay)
    assert found.operations.equals(usual.operations)


@pytest.mark.parametrize("step", [1, 3])
def test_a_length_that_cannot_be_makes_no_run_longer(
    rows: pl.DataFrame, step: int
) -> None:
    is_it = (pl.col("step") == step) & (pl.col("rank") == 1)
    wrong = rows.with_columns(
        duration_ns=pl.when(is_it).then(10**16).otherwise("duration_ns")
    )
    nothing = [one.create_empty().lazy() for one in (Kernels, Collectives)]
    ends = [
        traced_work(nothing[0], some.lazy(), nothing[1])
        .select(pl.col("end_ns").max())
        .collect()
        .item()
        for some in (rows, wrong)
    ]
    # other ranks tell when the last step ended, to less than a millisecond
    assert abs(ends[0] - ends[1]) < 10**6
