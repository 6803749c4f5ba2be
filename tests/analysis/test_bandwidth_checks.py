"""Bandwidths of benchmarks: recomputed, and compared to the digits that are printed."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.transfers import benchmark, checked

Row = dict[str, Any]

#: Sizes and times of the test of the field's tool on 16 GPUs. [B, ns]
TIMES = [(8, 164_300), (2**20, 309_400), (2**30, 26_217_000), (2**31, 51_406_000)]


def printed(
    times: list[tuple[int, int]], factor: float, decimals: int = 2, **told: Any
) -> list[Row]:
    """Rows with the bandwidths that belong to their times."""
    rows = benchmark(times, **told)
    for row in rows:
        algbw = row["bytes_total"] / row["duration_ns"]
        row["algbw_gbs"] = round(algbw, decimals)
        row["busbw_gbs"] = round(algbw * factor, decimals)
    return rows


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("allreduce", 2 * 15 / 16),
        ("allgather", 15 / 16),
        ("reducescatter", 15 / 16),
        ("alltoall", 15 / 16),
        ("gather", 15 / 16),
        ("scatter", 15 / 16),
        ("broadcast", 1.0),
        ("reduce", 1.0),
        ("sendrecv", 1.0),
    ],
)
def test_every_kind_has_its_factor(kind: str, factor: float) -> None:
    for row in checked(benchmark(TIMES, kind=kind, ranks=16)):
        algbw = row["bytes_total"] / row["duration_ns"]
        assert row["algbw_gbs"] == pytest.approx(algbw)
        assert row["busbw_gbs"] == pytest.approx(algbw * factor)
        assert row["busbw_low_gbs"] < row["busbw_gbs"] < row["busbw_high_gbs"]
        # a log may lack what follows from its times
        assert row["busbw_agreement"] == "not_comparable"


def test_other_kinds_have_no_busbw() -> None:
    (row,) = checked(benchmark([(8, 1000)], kind="hypercube", ranks=16))
    assert (row["algbw_gbs"], row["busbw_gbs"]) == (0.008, None)


def test_printed_bandwidths_are_equal_within_the_rounding_or_not() -> None:
    rows = printed(TIMES, 2 * 15 / 16, ranks=16)
    # 2**31 B in 51,406 us are 41.77496 GB/s; in 51,405.9 us they are 41.78
    rows[3]["algbw_gbs"] = 41.78
    # 2**30 B in 26,217 us are 40.96: 41.00 is of another time
    rows[2]["algbw_gbs"], rows[2]["busbw_gbs"] = 41.0, 76.87
    found = checked(rows)
    assert [row["algbw_agreement"] for row in found] == [
        "exact",
        "exact",
        "differs",
        "within_rounding",
    ]
    assert found[2]["busbw_agreement"] == "differs"
    assert found[2]["printed_busbw_gbs"] == 76.87


@given(
    ranks=st.integers(2, 1024),
    kind=st.sampled_from(["allreduce", "allgather", "alltoall"]),
)
def test_ranks_come_from_the_bandwidths_or_stay_unknown(ranks: int, kind: str) -> None:
    # GIVEN a table that names no ranks, its bandwidths rounded to two decimals
    factor = (2 if kind == "allreduce" else 1) * (ranks - 1) / ranks
    times = [(2**34, 37_000_000 + n * 17_000) for n in range(3)]
    found = checked(printed(times, factor, kind=kind))
    # THEN it is never another number than the true one
    assert {row["ranks"] for row in found} <= {ranks, None}
    assert ranks > 64 or found[0]["ranks"] == ranks
    basis = "bandwidths" if found[0]["ranks"] else "unknown"
    assert found[0]["ranks_basis"] == basis


def test_ranks_that_are_told_are_kept() -> None:
    rows = printed(TIMES, 2 * 7 / 8, ranks=16)
    (*_, last) = checked(rows)
    assert (last["ranks"], last["ranks_basis"]) == (16, "told")
    assert last["busbw_agreement"] == "differs"


#: Sizes and times of 10 us and more.
_ROWS = st.tuples(st.integers(1, 2**40), st.integers(10_000, 10**9))


@given(st.lists(_ROWS, min_size=1, max_size=6))
def test_a_time_rounded_to_a_tenth_explains_its_bandwidths(
    times: list[tuple[int, int]],
) -> None:
    # bandwidths of true times, and times as they are printed, to 0.1 us
    rows = printed(times, 2 * 15 / 16, ranks=16)
    for row in rows:
        tenth = Decimal(row["duration_ns"]) / 100
        row["duration_ns"] = max(100, int(tenth.to_integral_value()) * 100)
    found = checked(rows)
    assert "differs" not in {row["busbw_agreement"] for row in found}
    assert "differs" not in {row["algbw_agreement"] for row in found}


def test_no_time_has_no_bandwidth() -> None:
    (row,) = checked(benchmark([(8, 0)], ranks=16))
    assert (row["algbw_gbs"], row["algbw_agreement"]) == (None, "not_comparable")


def test_no_rows_are_no_rows() -> None:
    assert checked([]) == []


def test_order_does_not_matter() -> None:
    rows = printed(TIMES, 2 * 15 / 16)
    assert checked(rows) == checked(rows[::-1])
