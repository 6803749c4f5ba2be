"""Latency anatomy: what each series of transfers tells, and what it cannot."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.collective_waits import measure_waits
from analysis.latency_anatomy import measure_latency
from tests.analysis.collectives import NO_ATTEMPTS, seen
from tests.analysis.collectives import collectives as collectives_of
from tests.analysis.transfers import (
    anatomy,
    benchmark,
    collectives,
    frames_of,
    waits,
)
from tests.examples import examples

#: A line of 20 us and 10 GB/s, bytes over ns.
LINE = [(size, 20_000 + size // 10) for size in (1000, 10**5, 10**6, 10**7, 10**9)]

Row = dict[str, Any]


def only(rows: list[Row]) -> Row:
    (row,) = rows
    return row


def test_a_line_of_collectives() -> None:
    row = only(anatomy(waits(LINE * 3)))
    assert (row["source"], row["scope"], row["group_id"]) == (
        "trace",
        "group",
        "dp:[0,1]",
    )
    assert (row["alpha_ns"], row["beta_gbs"]) == (20_000, pytest.approx(10))
    # of two ranks busbw is algbw; half the time is bytes at 20 us x 10 GB/s
    assert row["busbw_gbs"] == pytest.approx(10)
    assert row["half_bytes"] == pytest.approx(200_000, rel=1e-6)
    assert (row["seen_count"], row["timed_count"], row["sizes_count"]) == (15, 15, 5)
    assert (row["smallest_bytes"], row["largest_bytes"]) == (1000, 10**9)
    assert row["residual_ratio"] == pytest.approx(0, abs=1e-6)
    assert row["reason"] is None


def test_the_bandwidth_of_eight_ranks_is_corrected() -> None:
    row = only(anatomy(waits(LINE, ranks_expected=8, kind="_allgather_base")))
    assert row["busbw_gbs"] == pytest.approx(10 * 7 / 8)
    assert row["busbw_low_gbs"] <= row["busbw_gbs"] <= row["busbw_high_gbs"]


@pytest.mark.thorough
@given(
    alpha=st.integers(1_000, 10**6),
    gbs=st.sampled_from([1, 5, 40, 200]),
    spoiled=st.integers(0, 2**32),
)
@settings(max_examples=examples(8))
def test_outliers_in_a_tenth_of_the_times_move_nothing(
    alpha: int, gbs: int, spoiled: int
) -> None:
    # GIVEN 20 of each of eight sizes on a line, of each one in ten 2 to 50 times slow
    rng = random.Random(spoiled)
    sizes = [gbs * 10 ** (n + 2) for n in range(8)]
    times = [
        (size, (alpha + size // gbs) * (rng.randint(2, 50) if n % 10 == 3 else 1))
        for size in sizes
        for n in range(20)
    ]
    row = only(anatomy(waits(times)))
    assert row["alpha_ns"] == pytest.approx(alpha, abs=1)
    assert row["beta_gbs"] == pytest.approx(gbs, rel=1e-6)


@pytest.mark.thorough
@given(
    st.lists(
        st.tuples(st.integers(0, 2**62), st.integers(0, 2**62)), min_size=1, max_size=9
    )
)
@settings(max_examples=examples(8))
def test_any_sizes_and_times_have_an_anatomy(times: list[tuple[int, int]]) -> None:
    fits, sizes = measure_latency(frames_of(waits(times), benchmark(times)))
    for row in fits.iter_rows(named=True):
        if row["beta_gbs"] is not None:
            assert row["alpha_low_ns"] <= row["alpha_ns"] <= row["alpha_high_ns"]
            assert row["beta_low_gbs"] <= row["beta_gbs"]
            assert row["beta_high_gbs"] is None or (
                row["beta_gbs"] <= row["beta_high_gbs"]
            )
    assert sizes["timed_count"].sum() == fits["timed_count"].sum()


def test_order_does_not_matter() -> None:
    rng = random.Random(1)
    seen = waits([(s, int(t * rng.uniform(0.8, 1.2))) for s, t in LINE * 20])
    tests = benchmark([(s, int(t * rng.uniform(0.8, 1.2))) for s, t in LINE])
    members = collectives((0, 1))
    fits, sizes = measure_latency(frames_of(seen, tests, members))
    for rows in (seen, tests, members):
        rng.shuffle(rows)
    again, sizes_again = measure_latency(frames_of(seen, tests, members))
    assert again.equals(fits)
    assert sizes_again.equals(sizes)


def seen_by_two(*, timed: bool) -> list[Row]:
    """Two ranks; by turns one is 1 to 10 ms late, and both leave at once."""
    rows = []
    for number, (size, transfer) in enumerate(LINE * 2):
        late = (number + 1) * 10**6
        last = number * 10**9 + late
        arrivals = (last - late, last) if number % 2 else (last, last - late)
        for rank, start in enumerate(arrivals):
            told: Row = {"sequence": number, "bytes_total": size}
            if not timed:
                told |= {"start_ns": None, "end_ns": None, "time_basis": "cpu"}
            rows.append(seen(rank, start, last + transfer, **told))
    return rows


@pytest.mark.parametrize("timed", [True, False])
def test_waiting_is_no_part_of_a_transfer(timed: bool) -> None:
    # GIVEN traces with starts, and records that tell lengths only: of those the rank
    # that came last was in the collective for the transfer alone
    found = measure_waits(
        collectives_of(*seen_by_two(timed=timed)), NO_ATTEMPTS
    ).to_dicts()
    row = only(anatomy(found))
    assert row["timed_count"] == 10
    assert (row["alpha_ns"], row["beta_gbs"]) == (20_000, pytest.approx(10))


def test_nothing_is_nothing() -> None:
    fits, sizes = measure_latency(frames_of())
    assert fits.is_empty()
    assert sizes.is_empty()


def test_one_size_has_a_median_and_no_line() -> None:
    # GIVEN 200 transfers of one size, of 1 to 200 us
    row = only(anatomy(waits([(10**6, n * 1000) for n in range(1, 201)])))
    assert (row["alpha_ns"], row["beta_gbs"]) == (None, None)
    assert row["reason"] == "1 of the 3 sizes that a line needs"
    # the 99th percentile of 1 to 200, between the order statistics: 1 + 0.99 x 199
    assert (row["p50_ns"], row["p99_ns"]) == (100_500, 198_010)
    assert row["tail_ns"] == 198_010 - 100_500
    assert (row["typical_bytes"], row["typical_count"]) == (10**6, 200)


def test_below_a_hundred_transfers_there_is_no_tail() -> None:
    row = only(anatomy(waits([(10**6, n * 1000) for n in range(1, 100)])))
    assert (row["p50_ns"], row["p99_ns"], row["tail_ns"]) == (50_000, None, None)


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ([(8, None), (16, None)], "no time is known"),
        ([(None, 5_000), (None, 6_000)], "no size is known"),
        ([(0, 5_000), (0, 6_000)], "no size is known"),
        ([(8, 5_000), (64, 6_000)], "2 of the 3 sizes"),
        ([(8, 9_000), (64, 6_000), (512, 3_000)], "times do not grow with size"),
    ],
)
def test_why_there_is_no_line(
    times: list[tuple[int | None, int | None]], reason: str
) -> None:
    row = only(anatomy(waits(times)))
    assert row["beta_gbs"] is None
    assert row["reason"].startswith(reason)


def test_a_rank_alone_has_no_transfer() -> None:
    # its time in the collective is also that of waiting for ranks that nobody saw
    row = only(anatomy(waits(LINE, ranks_expected=1, ranks_seen=1)))
    assert (row["timed_count"], row["alpha_ns"]) == (0, None)
    assert row["reason"].startswith("no time is known")


def test_a_barrier_has_a_median() -> None:
    row = only(anatomy(waits([(None, 5_000), (None, 7_000)], kind="barrier")))
    assert (row["p50_ns"], row["typical_bytes"]) == (6_000, None)


def test_few_bytes_bound_the_bandwidth_from_below_only() -> None:
    times = [(8, 20_100), (64, 19_900), (512, 20_300), (4096, 20_000), (8192, 20_350)]
    row = only(anatomy(waits(times)))
    assert row["reason"] == "the bandwidth has a lower bound only"
    assert row["alpha_low_ns"] < 20_000 < row["alpha_high_ns"]
    assert row["beta_low_gbs"] > 0
    assert row["beta_high_gbs"] is None


def test_many_bytes_bound_the_fixed_part_from_above_only() -> None:
    # GIVEN a fixed part of 20 us below times of 10 ms to 100 ms that differ by 1 %
    noise = (1.01, 0.99, 1.0, 1.005, 0.992)
    times = [(n * 10**8, int((20_000 + n * 10**7) * noise[n - 1])) for n in range(1, 6)]
    row = only(anatomy(waits(times)))
    assert row["reason"] == "the fixed part has an upper bound only"
    assert row["alpha_low_ns"] == 0
    assert row["alpha_high_ns"] > 20_000
    assert row["beta_low_gbs"] < 10 < row["beta_high_gbs"]


def test_one_size_gone_slow_leaves_the_bandwidth_and_widens_its_interval() -> None:
    # GIVEN five sizes of a line of 90 us and 190 GB/s, the largest 2.4 times too slow
    sizes = [2**20 * 8**n for n in range(4)] + [2**30]
    times = [(size, 90_000 + size // 190) for size in sizes]
    times[-1] = (2**30, times[-1][1] * 24 // 10)
    row = only(anatomy(waits(times)))
    assert row["beta_gbs"] == pytest.approx(190, rel=0.01)
    assert row["worst_bytes"] == 2**30
    assert row["worst_ratio"] == pytest.approx(2.4, rel=0.01)
    assert row["beta_low_gbs"] < 0.6 * row["beta_gbs"]
    assert row["reason"] == "the fixed part has an upper bound only"


def test_sizes_by_the_thousand_share_points() -> None:
    # GIVEN an all-to-all of tokens: no size twice, a line of 30 us and 25 GB/s
    rng = random.Random(5)
    drawn = {int(10 ** rng.uniform(4, 9)) for _ in range(3000)}
    times = [(size, 30_000 + size // 25) for size in sorted(drawn)]
    seen = waits(times, kind="alltoall")
    fits, sizes = measure_latency(frames_of(seen))
    row = only(fits.to_dicts())
    assert row["alpha_ns"] == pytest.approx(30_000, rel=0.001)
    assert row["beta_gbs"] == pytest.approx(25, rel=0.001)
    # four points an octave, and no tail of sizes that differ
    assert sizes.height <= 70
    assert row["tail_ns"] is None
    assert ((sizes["high_bytes"] / sizes["low_bytes"]) <= 2 ** (1 / 4)).all()


def test_groups_of_one_kind_are_also_brought_together() -> None:
    first = waits(LINE, group_id="dp:[0,1]")
    second = waits([(s * 2, 20_000 + s // 5) for s, _ in LINE], group_id="dp:[2,3]")
    rows = anatomy(first + second, members=collectives((0, 1)) + collectives((2, 3)))
    named = {row["group_id"]: row for row in rows}
    assert set(named) == {"dp:[0,1]", "dp:[2,3]", "dp"}
    assert (named["dp"]["scope"], named["dp"]["groups_count"]) == ("parallel_kind", 2)
    assert named["dp"]["sizes_count"] == 10
    assert named["dp:[0,1]"]["parallel_kind"] == "dp"


def gpus(hosts: list[str], attempt: int = 0) -> list[Row]:
    return [
        {"run_id": "run", "attempt": attempt, "rank": rank, "host": host}
        for rank, host in enumerate(hosts)
    ]


@pytest.mark.parametrize(
    ("seats", "nodes"),
    [
        (gpus(["a", "b"]), 2),
        (gpus(["a", "a"]), 1),
        (gpus(["a", "b"]) + gpus(["c", "d"], 1), 2),
        # a rank without a node, or as many nodes now and then others: not known
        (gpus(["a"]), None),
        (gpus(["a", "b"]) + gpus(["c", "c"], 1), None),
    ],
)
def test_nodes_of_a_group(seats: list[Row], nodes: int | None) -> None:
    rows = anatomy(waits(LINE), members=collectives((0, 1)), gpus=seats)
    assert {row["nodes"] for row in rows} == {nodes}


def test_a_send_and_its_receive_are_a_series() -> None:
    pair = {"group_id": "pp:[0,1] 0>1", "kind": "send_recv", "is_p2p": True}
    members = [row | {"group_id": "pp:[0,1]"} for row in collectives((0, 1))]
    rows = anatomy(waits(LINE, **pair), members=members)
    assert {row["scope"] for row in rows} == {"group", "parallel_kind"}
    assert all(row["busbw_gbs"] == pytest.approx(10) for row in rows)


def test_benchmarks_by_hosts_and_by_place() -> None:
    out = benchmark(LINE, hosts="a,b", ranks=16)
    back = benchmark(
        [(s, t * 2) for s, t in LINE], hosts="a,b", ranks=16, in_place=True
    )
    back = [row | {"position": row["position"] + 9} for row in back]
    rows = anatomy(tests=out + back)
    first, second = rows
    assert (first["scope"], first["group_id"], first["nodes"]) == ("hosts", "a,b", 2)
    assert (first["in_place"], second["in_place"]) == (False, True)
    assert first["beta_gbs"] == pytest.approx(10)
    assert second["beta_gbs"] == pytest.approx(5)
    assert first["busbw_gbs"] == pytest.approx(10 * 2 * 15 / 16)


def test_tests_of_unknown_hosts_stay_apart() -> None:
    two = benchmark(LINE) + benchmark(LINE, test_id="t 2")
    assert [row["group_id"] for row in anatomy(tests=two)] == ["t 1", "t 2"]


def test_a_row_that_contradicts_itself_has_no_time() -> None:
    # GIVEN a row whose printed 50 GB/s are not its 10**9 B in 100.02 ms
    rows = benchmark(LINE)
    rows[-1] |= {"algbw_gbs": 50.0, "busbw_gbs": 93.75}
    row = only(anatomy(tests=rows))
    assert (row["seen_count"], row["timed_count"]) == (5, 4)


def test_sizes_stand_beside_the_line() -> None:
    _, sizes = measure_latency(frames_of(waits(LINE * 4)))
    assert sizes["over_line_ratio"].to_list() == pytest.approx([1.0] * 5, rel=1e-3)
    assert sizes["line_busbw_gbs"].to_list() == pytest.approx(
        sizes["busbw_gbs"].to_list(), rel=1e-3
    )


def test_the_size_that_one_line_fits_least() -> None:
    # GIVEN a slow protocol at 10 MB: 3 ms, not the line's 1.02 ms
    times = [(s, 3_000_000 if s == 10**7 else t) for s, t in LINE]
    times += [(2 * 10**9, 200_020_000), (4 * 10**9, 400_020_000), (10, 20_001)]
    row = only(anatomy(waits(times)))
    assert row["worst_bytes"] == 10**7
    assert row["worst_ratio"] == pytest.approx(3_000_000 / 1_020_000, rel=0.05)
