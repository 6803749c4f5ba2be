"""Operations of a run tell the same, whatever files they were written to."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import polars as pl
import pytest

from analysis import QUESTIONS, Frames
from analysis.lost_time import LostTime
from ingest.phrases import phrase
from ingest.synthetic.pipeline import (
    Pipeline,
    SlowWorker,
    operations,
    simulate,
)
from ingest.tables import Jobs, Operations, RunCards, Table
from ingest.times import SECOND_NS
from tests.analysis.ledgers import Row, filled, job, rows

pytestmark = pytest.mark.thorough

PLAN: Final = Pipeline(
    2, 4, replicas=2, steps=6, sd=0.05, seed=5, faults=(SlowWorker(1, 1, 1.4),)
)

#: Whose answers come from operations, in order.
NAMES: Final = (
    *("attempts", "runs", "gpus", "allocations", "overlap", "lost_time"),
    *("stragglers", "section_scores", "replays", "pipeline_bubbles", "whatif"),
)

#: How operations are parted into files.
FILES: Final[Mapping[str, pl.Expr]] = {
    "a file for each rank": phrase("{}", pl.col("rank").cast(pl.String)),
    "a file for each step": phrase("{}", pl.col("step").cast(pl.String)),
    "a file for each rank and step": phrase(
        "{}-{}", *[pl.col(name).cast(pl.String) for name in ("rank", "step")]
    ),
    "even steps, odd steps": phrase("{}", (pl.col("step") % 2).cast(pl.String)),
    "flushes that no step ends": phrase(
        "{}-{}",
        pl.col("rank").cast(pl.String),
        ((pl.col("start_ns") - PLAN.begun_ns) // (SECOND_NS // 3)).cast(pl.String),
    ),
}

Told = dict[str, list[tuple[object, ...]]]


def traced(plan: Pipeline = PLAN) -> pl.DataFrame:
    """Operations of a pipeline in one trace, their attempt not told."""
    none = pl.lit(None, pl.Int32)
    return operations(simulate(plan)).with_columns(attempt=none, trace_id=pl.lit("t"))


def told(made: pl.DataFrame, *jobs: Row, names: tuple[str, ...] = NAMES) -> Told:
    """The rows of every table that is made of operations, but the names of traces."""
    known: dict[type[Table], pl.LazyFrame] = {
        Operations: filled(Operations, made),
        RunCards: rows(RunCards, {"pp": 2, "dp": 2}),
        Jobs: rows(Jobs, *jobs),
    }
    by_name = {one.name: one for one in QUESTIONS}
    answers = {}
    for name in names:
        one = by_name[name]
        for table, frame in one.compute(Frames(known), one.thresholds).items():
            known[table] = frame.lazy()
            kept = frame.drop("trace_id", strict=False)
            answers[table.sql_name()] = sorted(kept.rows(), key=repr)
    return answers


@pytest.fixture(scope="module")
def whole() -> Told:
    """What one file tells."""
    return told(traced())


def test_there_is_something_to_tell(whole: Told) -> None:
    bases = {row[LostTime.column_names().index("basis")] for row in whole["lost_time"]}
    assert bases == {"operations"}
    assert whole["straggler_steps"]
    assert len(whole["attempts"]) == 1
    assert len(whole["allocations"]) == PLAN.ranks


@pytest.mark.parametrize("files", FILES)
def test_files_do_not_matter(whole: Told, files: str) -> None:
    parted = traced().with_columns(trace_id=FILES[files])
    shuffled = parted.sample(fraction=1, shuffle=True, seed=3)
    assert told(shuffled) == whole


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_what_two_files_tell_is_counted_once(whole: Told, share: float) -> None:
    # GIVEN one file of all, and a file for each rank with some of the same
    made = traced()
    copies = made.filter(pl.col("step") < share * PLAN.steps).with_columns(
        trace_id=FILES["a file for each rank"]
    )
    both = told(pl.concat([copies, made]))
    for table in ("attempts", "allocations", "gpus", "lost_time", "straggler_steps"):
        assert both[table] == whole[table], table


def test_steps_that_were_done_again_are_not_the_same() -> None:
    # GIVEN two jobs, the second an hour later and two steps back, a file for each rank
    hour = 3_600 * SECOND_NS
    again = replace(PLAN, first_step=4, begun_ns=PLAN.begun_ns + hour)
    both = [(traced(), "a"), (traced(again), "b")]
    single = pl.concat([one.with_columns(trace_id=pl.lit(name)) for one, name in both])
    rank = pl.col("rank").cast(pl.String)
    parted = single.with_columns(trace_id=phrase("{} {}", "trace_id", rank))
    first, second = PLAN.begun_ns, again.begun_ns
    jobs = [
        job(1, first - SECOND_NS, first + 9 * SECOND_NS, PLAN.ranks),
        job(2, second - SECOND_NS, second + 9 * SECOND_NS, PLAN.ranks),
    ]
    for given in ((), jobs):
        apart, together = (
            told(made, *given, names=NAMES[:6]) for made in (parted, single)
        )
        assert apart == together
        bases = {row[-2] for row in apart["lost_time"] if row[3] == "productive"}
        assert bases == {"operations"}
        assert any(row[3] == "recompute" for row in apart["lost_time"])
