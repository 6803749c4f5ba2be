"""What traces may lack, repeat or spell in another way, and what is left out."""

from dataclasses import replace

import polars as pl
import pytest

from analysis._replay import Replay, replays_of
from ingest.phrases import phrase
from ingest.synthetic.pipeline import Pipeline, operations, simulate
from tests.analysis.replayed import (
    NO_ATTEMPTS,
    answers,
    found_in,
    reason_of,
    replay_of,
)

PLAN = Pipeline(stages=2, microbatches=4, replicas=2, steps=3, sd=0.1, seed=4)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Operations of three steps of two replicas of two stages."""
    return operations(simulate(PLAN))


def is_kind(*kinds: str) -> pl.Expr:
    """Whether an operation is of some kinds."""
    return pl.col("kind").is_in(kinds)


IS_ONE = is_kind("forward-compute") & (pl.col("sequence") == 2) & (pl.col("rank") == 1)


def test_the_order_of_rows_does_not_matter(rows: pl.DataFrame) -> None:
    usual, shuffled = (
        answers(rows),
        answers(rows.sample(fraction=1, shuffle=True, seed=7)),
    )
    for name, frame in usual.items():
        assert frame.equals(shuffled[name])


def test_what_is_there_twice_counts_once(rows: pl.DataFrame) -> None:
    usual, twice = replay_of(rows), replay_of(pl.concat([rows, rows.head(50)]))
    assert twice.operations.equals(usual.operations)
    assert twice.operations_left_out == 50


def test_a_step_that_lacks_an_operation_is_left_out(rows: pl.DataFrame) -> None:
    replay = replay_of(rows.filter(~(IS_ONE & (pl.col("step") == 1))))
    assert replay.steps == (0, 2)
    assert replay.steps_left_out == 1
    # its operations are not used either, but for the missing one
    each = rows.height // PLAN.steps
    assert replay.operations.height == 2 * each
    assert replay.operations_left_out == each - 1


def test_the_first_step_may_be_the_one_that_is_left_out(rows: pl.DataFrame) -> None:
    replay = replay_of(rows.filter(~(IS_ONE & (pl.col("step") == 0))))
    assert replay.steps == (1, 2)
    usual = replay_of(rows)
    times = usual.step_times(usual.own_ns()).tolist()
    assert replay.step_times(replay.own_ns()).tolist() == times[1:]


def test_a_step_with_one_more_operation_is_left_out(rows: pl.DataFrame) -> None:
    more = rows.filter(IS_ONE & (pl.col("step") == 2)).with_columns(
        pl.col("start_ns") + 1, sequence=pl.lit(99, pl.Int64)
    )
    assert replay_of(pl.concat([rows, more])).steps == (0, 1)


def test_a_replica_that_never_fits_is_left_out() -> None:
    wide = operations(simulate(replace(PLAN, replicas=3)))
    replay = replay_of(wide.filter(~IS_ONE))
    assert replay.dp_ranks() == [0, 2]
    assert replay.replicas_left_out == 1
    assert replay.steps == (0, 1, 2)
    (reason,) = answers(wide.filter(~IS_ONE))["Replays"]["reason"]
    assert reason.startswith("1 of 3 replicas missing or left out")


def test_a_trace_that_lacks_the_same_receives_everywhere(rows: pl.DataFrame) -> None:
    gone = is_kind("forward-recv") & (pl.col("sequence") >= 2)
    assert reason_of(rows.filter(~gone)) == "stage 1 has 2 recvs for 4 passes"


def test_a_trace_without_the_other_end_of_transfers(rows: pl.DataFrame) -> None:
    reason = reason_of(rows.filter(~is_kind("backward-send")))
    assert reason == "the peer of backward-recv of stage 0 is missing"


def test_words_of_other_tools_mean_the_same(rows: pl.DataFrame) -> None:
    words = {
        "forward-compute": "forward",
        "backward-compute": "backward",
        "params-all-gather": "unshard-all-gather",
        "grads-reduce-scatter": "grad_reduce_scatter",
    }
    spoken = replay_of(rows.with_columns(pl.col("kind").replace(words)))
    usual = replay_of(rows)
    assert spoken.operations.drop("raw_kind").equals(usual.operations.drop("raw_kind"))
    assert set(words.values()) <= set(spoken.operations["raw_kind"].cast(pl.String))


def test_kinds_without_a_place_in_the_schedule_are_left_out(rows: pl.DataFrame) -> None:
    loss = rows.head(3).with_columns(kind=pl.lit("loss"))
    assert replay_of(pl.concat([rows, loss])).operations_left_out == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pp_rank": None}, "the pipeline stage of some ranks is not told"),
        ({"dp_rank": None}, "the data-parallel replica of some ranks is not told"),
        ({"start_ns": None}, "the start of some operations is not told"),
        ({"duration_ns": 0}, "operations take no time"),
        ({"kind": "loss"}, "no operation of kind forward-compute or backward-compute"),
        ({"pp_rank": "microbatch"}, "a rank has more than one pp_rank"),
    ],
)
def test_why_a_trace_cannot_be_replayed(
    rows: pl.DataFrame, change: dict[str, str | int | None], reason: str
) -> None:
    ((column, value),) = change.items()
    told = pl.col(str(value)) if value in rows.columns else pl.lit(value)
    changed = rows.with_columns(told.cast(rows.schema[column]).alias(column))
    assert reason_of(changed).startswith(reason)
    (row,) = answers(changed)["Replays"].to_dicts()
    assert row["verdict"] == "not_replayable"
    assert row["reason"] == reason_of(changed)
    assert row["slowdown_ratio"] is None


def test_files_of_single_ranks_are_one_trace(rows: pl.DataFrame) -> None:
    parts = rows.with_columns(trace_id=phrase("t{}", "rank"))
    replay = replay_of(parts)
    assert replay.trace_id == "t0"
    assert replay.operations.equals(replay_of(rows).operations)


def test_files_of_a_few_steps_each_are_one_trace(rows: pl.DataFrame) -> None:
    parts = rows.with_columns(trace_id=phrase("t{}", "step"))
    assert replay_of(parts).operations.equals(replay_of(rows).operations)


def test_traces_of_the_same_steps_are_replayed_apart(rows: pl.DataFrame) -> None:
    later = rows.with_columns(trace_id=pl.lit("u"))
    assert [one.trace_id for one in found_in(pl.concat([later, rows]))] == ["t", "u"]


def test_a_circle_is_told() -> None:
    """Backward before forward: stages wait for each other for ever."""
    rows = operations(simulate(replace(PLAN, replicas=1, steps=1)))
    bare = rows.filter(~pl.col("kind").str.contains("send|recv"))
    turned = bare.with_columns(
        microbatch=pl.when(is_kind("forward-compute") & (pl.col("pp_rank") == 1))
        .then(3 - pl.col("microbatch"))
        .otherwise("microbatch")
    )
    assert reason_of(turned) == "operations wait for each other in a circle"


def test_of_too_many_operations_some_steps_are_held(rows: pl.DataFrame) -> None:
    """A third of three steps may be held: the first of them."""
    (replay,) = replays_of(rows.lazy(), NO_ATTEMPTS, most=rows.height // 3)
    assert isinstance(replay, Replay)
    assert replay.steps == (0,)
    assert (replay.steps_passed_over, replay.steps_left_out) == (2, 0)


def test_no_operations_give_empty_tables(rows: pl.DataFrame) -> None:
    assert all(frame.is_empty() for frame in answers(rows.clear()).values())
