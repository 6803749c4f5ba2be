"""Ranks that arrive last beyond chance."""

from collections.abc import Sequence

import dataframely as dy
import numpy as np
import polars as pl
import pytest

from analysis.attempts import Attempts
from analysis.late_ranks import LateRanks, find_late_ranks
from ingest.tables import Collectives


def arrivals(
    times: Sequence[Sequence[int]], attempt: int = 0, group: str = "dp"
) -> pl.DataFrame:
    """Collectives from the arrivals of each rank, all left at one instant."""
    rows = [
        {
            "file_id": f"f{rank}",
            "run_id": "run",
            "attempt": attempt,
            "trace_id": f"t{rank}",
            "event": number,
            "rank": rank,
            "group_id": group,
            "group_size": len(of_one),
            "kind": "allreduce",
            "is_p2p": False,
            "sequence": number,
            "match_method": "sequence",
            "start_ns": number * 1_000 + start,
            "end_ns": number * 1_000 + 900,
            "duration_ns": 900 - start,
            "time_basis": "gpu",
            "state": "completed",
        }
        for number, of_one in enumerate(times)
        for rank, start in enumerate(of_one)
    ]
    return pl.DataFrame(rows, schema=Collectives.create_empty().schema)


def late(*parts: pl.DataFrame) -> dy.DataFrame[LateRanks]:
    rows = Collectives.validate(pl.concat(parts)).lazy()
    return find_late_ranks(rows, Attempts.create_empty().lazy())


def test_counts_waits_and_chance_of_a_drawn_case() -> None:
    # two ranks, four collectives: rank 1 arrives last in three of them
    rows = late(arrivals([[0, 5], [0, 7], [0, 1], [4, 0]]))
    zero, one = rows.to_dicts()
    assert (zero["collectives_count"], zero["last_count"]) == (4, 1)
    assert (one["last_count"], one["expected_count"]) == (3, 2.0)
    assert (zero["wait_ns"], one["wait_ns"]) == (5 + 7 + 1, 4)
    assert (zero["late_ns"], one["late_ns"]) == (4, 5 + 7 + 1)
    # P(at least 3 of 4 at 1/2) = (4 + 1) / 16
    assert one["p_value"] == pytest.approx(5 / 16)
    assert not rows["is_late"].any()


def test_a_rank_that_is_always_last_is_late_and_nobody_else() -> None:
    generator = np.random.default_rng(1)
    times = generator.integers(0, 100, (40, 8))
    times[:, 5] += 100
    rows = late(arrivals(times.tolist()))
    assert rows.filter("is_late")["rank"].to_list() == [5]
    assert rows.filter(rank=5)["last_count"].to_list() == [40]


def test_five_of_eight_among_eight_ranks_is_late_and_four_is_not() -> None:
    # P(at least 5 of 8 at 1/8) x 8 ranks = 0.0098; at least 4: 0.075
    def last_in(count: int) -> list[list[int]]:
        other = [
            [90 if rank == number else 0 for rank in range(8)] for number in range(8)
        ]
        mine = [[90 if rank == 7 else 0 for rank in range(8)]] * count
        return mine + other[: 8 - count]

    assert late(arrivals(last_in(5))).filter("is_late")["rank"].to_list() == [7]
    assert late(arrivals(last_in(4))).filter("is_late").is_empty()


@pytest.mark.parametrize("seed", range(10))
def test_equal_ranks_flag_nobody(seed: int) -> None:
    times = np.random.default_rng(seed).integers(0, 500, (200, 16))
    assert not late(arrivals(times.tolist()))["is_late"].any()


def test_always_last_by_next_to_nothing_is_not_late() -> None:
    # beyond any chance, but 5 ns of every 1,000: healthy GPUs differ by as much
    rows = late(arrivals([[0, 5]] * 50))
    assert rows.filter(pl.col("p_value") < 1e-14)["rank"].to_list() == [1]
    assert not rows["is_late"].any()


def test_two_late_ranks_are_both_named() -> None:
    # Holm: once the worst has fallen, the next is held against one test fewer
    turns = [[0] * 6 + [50, 150], [0] * 6 + [150, 50]] * 12
    rows = late(arrivals(turns))
    assert rows.filter("is_late")["rank"].to_list() == [6, 7]


def test_attempts_are_judged_apart() -> None:
    steady = [[0, 0, 0, 90]] * 12
    turning = [[90 if rank == n % 4 else 0 for rank in range(4)] for n in range(12)]
    rows = late(arrivals(turning), arrivals(steady, attempt=1))
    assert rows.filter("is_late").select("attempt", "rank").rows() == [(1, 3)]


def test_groups_of_different_sizes_add_their_chances() -> None:
    rows = late(
        arrivals([[5, 0]] * 3, group="pair"), arrivals([[5, 0, 0, 0]] * 4, group="four")
    )
    first = rows.filter(rank=0).to_dicts()[0]
    assert first["expected_count"] == pytest.approx(3 / 2 + 4 / 4)
    # last in all of them: the product of the chances, and no bound on it
    assert first["p_value"] == pytest.approx((1 / 2) ** 3 * (1 / 4) ** 4)
    assert first["p_value"] < (2.5 / 7) ** 7


def test_nothing_seen_nobody_named() -> None:
    assert late(Collectives.create_empty()).is_empty()


def test_a_verdict_says_why_a_rank_is_not_late() -> None:
    # 40 collectives of 1 us: rank 1 is last by 5 ns in each, and in ties with rank 0
    little = late(arrivals([[0, 5]] * 40 + [[0, 0]] * 10))
    zero, one = little.to_dicts()
    assert (one["complete_count"], one["collectives_count"]) == (50, 40)
    assert one["p_value"] < 1e-9
    assert (zero["verdict"], one["verdict"]) == ("within_chance", "below_share")
    # by 100 ns it costs a tenth of the time
    _, much = late(arrivals([[0, 100]] * 40)).to_dicts()
    assert (much["verdict"], much["is_late"]) == ("late", True)
