"""Who waits for whom, and how well clocks agree, as the page says it."""

from typing import Any

import polars as pl
import pytest

from analysis.clock_offsets import ClockOffsets
from analysis.late_ranks import LateRanks, WaitingEdges
from reports import _blind_clocks, _clock_words, _held_up, _wait_graph
from reports._numbers import duration
from reports._section import Chart, Scope
from tests.reports.builder import RUN, S, frame, framed, prices_of, provenance_of

SCOPE = Scope(prices_of(RUN), provenance_of(RUN))


def edge(waiting: int, late: int, wait_ns: int, **told: Any) -> dict[str, Any]:
    return {
        "run_id": RUN,
        "attempt": 0,
        "waiting_rank": waiting,
        "waiting_to_rank": waiting,
        "late_rank": late,
        "collectives_count": 1,
        "wait_ns": wait_ns,
    } | told


def drawn(*rows: dict[str, Any]) -> list[Chart]:
    return _wait_graph.chart(frame(WaitingEdges, list(rows)).lazy(), SCOPE)


def clock(number: int, state: str, **told: Any) -> dict[str, Any]:
    named = {"run_id": RUN, "attempt": 0, "spell": 0, "state": state}
    return (
        named
        | {
            "clock": f"node-{number}",
            "host": f"node-{number}",
            "reference_clock": "node-0",
            "offset_ns": 0,
            "residual_ns": 0,
            "is_corrected": False,
        }
        | told
    )


def clocks(*rows: dict[str, Any]) -> pl.DataFrame:
    return frame(ClockOffsets, list(rows))


def test_lines_lead_to_the_one_that_is_waited_for() -> None:
    (chart,) = drawn(edge(0, 2, 3 * S), edge(1, 2, 2 * S), edge(2, 1, S))
    assert chart.numbers.rows() == [
        (0, 2, 3.0, 1),
        (1, 2, 2.0, 1),
        (2, 1, 1.0, 1),
    ]
    assert chart.summary.endswith(
        "the widest bundle leads to rank 2 · 5.00\N{NARROW NO-BREAK SPACE}s."
    )


@pytest.mark.parametrize(("ranks", "rows"), [(32, 31), (33, 16), (1024, 32)])
def test_many_ranks_share_rows_and_the_page_says_so(ranks: int, rows: int) -> None:
    last = ranks - 1
    (chart,) = drawn(*(edge(rank, last, 10) for rank in range(last)))
    assert chart.numbers["from_rank"].n_unique() == rows
    assert chart.numbers["wait_s"].sum() == pytest.approx(last * 1e-8)
    assert ("neighbouring ranks" in chart.sample) == (rows < last)


def test_of_many_late_ranks_the_rest_are_one() -> None:
    (chart,) = drawn(*(edge(20, rank, 100 + rank) for rank in range(12)))
    assert chart.numbers["late_rank"].to_list() == [*range(4, 12), None]
    assert chart.numbers["wait_s"][-1] == pytest.approx((100 + 101 + 102 + 103) / 1e9)
    assert "all others as one" in chart.sample


def test_the_attempt_that_waited_most_is_drawn() -> None:
    (chart,) = drawn(edge(0, 1, 5), edge(3, 4, 9, attempt=1))
    assert chart.numbers["late_rank"].to_list() == [4]
    assert "attempt = 1" in chart.sql


def test_nobody_waited_nothing_drawn() -> None:
    assert drawn() == []


def test_one_clock_has_nothing_to_agree_with() -> None:
    alone = clocks(clock(0, "reference"))
    assert _clock_words.agreement(alone) == []
    assert _clock_words.paragraphs(alone) == []


def test_clocks_that_agree_and_one_that_nothing_connects() -> None:
    told = clocks(
        clock(0, "reference"),
        clock(
            1,
            "estimated",
            offset_ns=-420_000,
            drift_ppm=-12.3,
            residual_ns=900,
            is_corrected=True,
        ),
        clock(2, "unknown"),
    )
    assert _clock_words.agreement(told) == [
        f"Clocks of 2 hosts, offsets taken out, scatter by {duration(900)}.",
        "Not known: the clock of node-2.",
    ]
    moved, lost = _clock_words.paragraphs(told)
    assert moved.startswith(
        "The clock of node-1 was corrected: it is"
        f" {duration(420_000)} behind node-0; its drift reaches 12.3 ppm. Scatter is"
    )
    assert lost.startswith("Nothing connects the clock of node-2 to the others")


def test_a_clock_that_nothing_connects_is_a_blind_spot() -> None:
    rows = [clock(0, "reference"), clock(1, "unknown")]
    spot = _blind_clocks.unconnected(framed({ClockOffsets: rows}), SCOPE)
    assert spot is not None
    assert spot.how_much == "1 of 2 clocks"
    assert _blind_clocks.unconnected(framed({ClockOffsets: rows[:1]}), SCOPE) is None


def test_a_clock_that_is_set_wrong_is_named() -> None:
    wrong = {"offset_ns": -3600 * 10**9, "residual_ns": 900, "is_corrected": True}
    told = clocks(clock(0, "reference"), clock(1, "estimated", **wrong))
    _, far = _clock_words.paragraphs(told)
    assert far.startswith("Over a minute off: the clock of node-1.")


def test_a_clock_that_shares_nothing_in_time_is_told_so() -> None:
    reason = "no collective is shared in time"
    told = clocks(clock(0, "reference"), clock(1, "unknown", reason=reason))
    (lost,) = _clock_words.paragraphs(told)
    assert "over a minute apart" in lost
    assert "too few" not in lost


def test_a_rank_that_waits_for_the_guilty_one_may_be_held_up() -> None:
    key = {"run_id": RUN, "attempt": 0}
    late = frame(
        LateRanks,
        [
            key | {"rank": rank, "late_ns": late_ns, "is_late": rank == 5}
            for rank, late_ns in ((5, 1000), (4, 700), (3, 50))
        ],
    )
    waited = key | {"collectives_count": 9, "late_rank": 5, "wait_ns": 300}
    edges = frame(
        WaitingEdges,
        [waited | {"waiting_rank": r, "waiting_to_rank": r} for r in (3, 4, 6)],
    )
    (told,) = _held_up.sentence(late, edges)
    assert told == (
        "Also waited for, but perhaps only held up: rank 4, which waits itself"
        f" {duration(300)} for rank 5."
    )
