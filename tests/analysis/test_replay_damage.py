"""Damaged traces: whatever is missing, repeated or wrong, there is an answer."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.synthetic.pipeline import Pipeline, operations, simulate
from tests.analysis.replayed import answers
from tests.examples import examples

pytestmark = pytest.mark.thorough

#: Columns that may be unknown, or wrong, and what they may hold.
WRONG: dict[str, st.SearchStrategy[Any]] = {
    "step": st.integers(0, 2),
    "rank": st.integers(0, 4),
    "dp_rank": st.one_of(st.none(), st.integers(0, 3)),
    "pp_rank": st.one_of(st.none(), st.integers(0, 3)),
    "kind": st.sampled_from(["forward", "forward-recv", "backward-send", "gc", "?"]),
    "microbatch": st.one_of(st.none(), st.integers(0, 4)),
    "chunk": st.one_of(st.none(), st.integers(0, 3)),
    "sequence": st.one_of(st.none(), st.integers(0, 9)),
    "start_ns": st.integers(0, 2**61),
    "duration_ns": st.integers(0, 2**50),
}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Operations of two steps of two replicas of two stages of two chunks."""
    plan = Pipeline(stages=2, microbatches=2, chunks=2, replicas=2, steps=2, sd=0.1)
    return operations(simulate(plan))


@given(st.data())
@settings(max_examples=examples(25))
def test_every_damaged_trace_has_one_answer(rows: pl.DataFrame, data: Any) -> None:
    """Rows are dropped and repeated, and cells are changed."""
    places = st.lists(st.integers(0, rows.height - 1), max_size=6)
    drop, again = data.draw(places), data.draw(places)
    kept = rows.with_row_index().filter(~pl.col("index").is_in(drop)).drop("index")
    damaged = pl.concat([kept, rows[again]])
    changes = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, damaged.height - 1), st.sampled_from(sorted(WRONG))
            ),
            max_size=6,
        )
    )
    for place, column in changes:
        values = damaged[column].to_list()
        values[place] = data.draw(WRONG[column])
        damaged = damaged.with_columns(
            pl.Series(column, values, dtype=damaged.schema[column])
        )
    told = answers(damaged)
    (row,) = told["Replays"].to_dicts()
    assert (row["verdict"] == "replayed") is (row["slowdown_ratio"] is not None)
    assert row["slowdown_ratio"] is not None or row["reason"]
    assert row["operations_replayed"] + row["operations_left_out"] == damaged.height
