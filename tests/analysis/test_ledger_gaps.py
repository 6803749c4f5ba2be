"""What each gap in compute waited for: drawn gaps, and a sweep over time."""

from typing import Final

import hypothesis.strategies as st
import polars as pl
from hypothesis import given, settings

from analysis._ledger_gaps import blocked_by, gaps_of

BY: Final = ["rank"]


def intervals(*drawn: tuple[int, int, int, str]) -> pl.LazyFrame:
    """Start, end, end of the wait and kind of communication."""
    schema = ["start_ns", "end_ns", "until_ns", "kind"]
    frame = pl.DataFrame(drawn, schema=schema, orient="row")
    return frame.lazy().with_columns(rank=pl.lit(0))


def spans(*drawn: tuple[int, int]) -> pl.LazyFrame:
    frame = pl.DataFrame(drawn, schema=["start_ns", "end_ns"], orient="row")
    return frame.lazy().with_columns(rank=pl.lit(0))


def test_a_gap_belongs_to_what_ends_last_before_work_goes_on() -> None:
    # us     0     10        20    25    30       40
    # compute[=====]               [=====]
    # tp           [wwwwwwwww|tttt]                   waits to 20, then its transfer
    # dp        [wwwwwwwwwwwwwwwwwwwwwwwwwwwww|ttt]   spins from 8 to 34 beside it
    work = spans((0, 10_000), (25_000, 30_000))
    gaps = gaps_of(work, spans((0, 40_000)), BY)
    both = intervals((10_000, 25_000, 20_000, "tp"), (8_000, 38_000, 34_000, "dp"))
    held = blocked_by(both, gaps, BY).sort("start_ns").collect()
    found = held.select("start_ns", "end_ns", "kind").rows()
    # of dp only what it holds up counts: 30 to 34, when nothing else is to be done
    assert found == [(10_000, 20_000, "tp"), (30_000, 34_000, "dp")]


def test_a_collective_that_goes_on_counts_where_there_is_no_other() -> None:
    work = spans((0, 10_000), (25_000, 30_000))
    gaps = gaps_of(work, spans((0, 30_000)), BY)
    held = blocked_by(intervals((8_000, 38_000, 34_000, "dp")), gaps, BY).collect()
    assert held.select("start_ns", "end_ns").rows() == [(10_000, 25_000)]


drawn = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 20), st.integers(0, 20)), max_size=6
)


@settings(max_examples=40, deadline=None)
@given(drawn)
def test_waits_are_those_of_a_sweep(some: list[tuple[int, int, int]]) -> None:
    # GIVEN communication in one gap, from 0 to 60, all of it over when work goes on
    known = [
        (start, start + length, min(start + wait, start + length), str(place))
        for place, (start, length, wait) in enumerate(some)
    ]
    gaps = spans((0, 60))
    found = blocked_by(intervals(*known), gaps, BY) if known else spans()
    length = (pl.col("end_ns") - pl.col("start_ns")).sum()
    measured = found.select(length).collect().item() if known else 0
    # THEN at each time that waits which of all that is on ends last and waits longest
    swept = 0
    for time in range(60):
        on = [one for one in known if one[0] <= time < one[1]]
        if on:
            _, _, until, _ = max(on, key=lambda one: (one[1], one[2], -one[0]))
            swept += time < until
    assert measured == swept
