"""When runs restarted, from what each rank knows of it."""

from itertools import combinations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from analysis import Frames
from analysis._restart_dates import fewest_dates
from analysis.attempts import ANALYSIS, Attempts
from ingest.tables import StepTimings
from tests.analysis.drawn_steps import MIDNIGHT_NS, framed

SPANS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, 9)).map(lambda p: (p[0], sum(p))),
    max_size=7,
)


def dates(spans: list[tuple[int, int]], run_id: str = "r") -> list[int]:
    schema = {"run_id": pl.String, "from_ns": pl.Int64, "until_ns": pl.Int64}
    rows = [(run_id, *span) for span in spans]
    found = fewest_dates(pl.DataFrame(rows, schema, orient="row"))
    return found["restart_ns"].to_list()


def explains(
    moments: tuple[int, ...] | list[int], spans: list[tuple[int, int]]
) -> bool:
    return all(any(low < at <= high for at in moments) for low, high in spans)


@given(SPANS)
def test_no_fewer_moments_would_do(spans: list[tuple[int, int]]) -> None:
    found = dates(spans)
    assert explains(found, spans)
    ends = sorted({high for _, high in spans})
    fewer = combinations(ends, len(found) - 1) if found else []
    assert not any(explains(some, spans) for some in fewer)


def test_runs_do_not_explain_each_other() -> None:
    rows = [("r", 0, 5), ("s", 4, 9)]
    schema = {"run_id": pl.String, "from_ns": pl.Int64, "until_ns": pl.Int64}
    found = fewest_dates(pl.DataFrame(rows, schema, orient="row"))
    assert found.rows() == [("r", 5), ("s", 9)]


def test_many_spans_are_looked_through_in_pieces() -> None:
    """10,000 ranks that go back twice, each a moment later than the one before."""
    ranks = range(10_000)
    first = [(rank, 10_010 + rank) for rank in ranks]
    assert dates(first + [(20_010 + rank, 50_000 + rank) for rank in ranks]) == [
        10_010,
        50_000,
    ]


def test_a_single_step_between_two_restarts_is_of_both_ranks() -> None:
    """Rank 0 is late by a second, which is no restart of rank 0 alone.

    rank 0  |-7-|       |--7--|            |-0-|
    rank 1  |-7-|      |--7--|             |-0-|
    """
    second = 1_000_000_000
    told = [(0, 7, 0, 0), (0, 7, 1, 0), (0, 7, 1, 20), (0, 7, 0, 21)]
    rows = [
        {"attempt": attempt, "step": step, "rank": rank, "duration_ns": 9 * second}
        | {"start_ns": MIDNIGHT_NS + at * second}
        for attempt, step, rank, at in [*told, (1, 0, 0, 99), (1, 0, 1, 99)]
    ]
    found = ANALYSIS.compute(
        Frames({StepTimings: framed(rows).lazy()}), ANALYSIS.thresholds
    )[Attempts].sort("attempt")
    ends = [(at - MIDNIGHT_NS) // second for at in found["last_step_end_ns"]]
    assert ends == [30, 108]
