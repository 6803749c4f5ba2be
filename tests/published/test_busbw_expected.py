"""Published figures of collectives: rounds of algorithms, and a log of nccl-tests."""

from collections import Counter
from pathlib import Path

import pytest

from analysis import Frames
from analysis.collective_models import Link, flat, ring, slice_bytes, tree
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes, measure_latency
from analysis.latency_models import compare_models
from ingest.sources import nccl_tests
from ingest.tables import BandwidthTests, RunCards
from tests.analysis.transfers import Row, anatomy, checked, frame, frames_of
from tests.ingest.readings import held, read_lines, rows

RANKS = 16_384


@pytest.fixture(scope="module")
def figures(shared: Path) -> dict[str, float]:
    """Figures by the number of their row, in the unit that they are told in."""
    lines = (shared / "expected" / "design_figures.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {row[0]: float(row[3].split()[0]) for row in rows if row[0] in _FIGURES}


_FIGURES = ("D13", "D14", "D15", "D16")


def test_a_ring_of_all_ranks(figures: dict[str, float]) -> None:
    model = ring(flat(RANKS, Link(5_000.0, 50.0)))
    assert model.rounds == figures["D13"]
    assert model.fixed_ns / 1e9 == pytest.approx(figures["D14"], abs=0.0001)
    assert slice_bytes(25e6, RANKS) == pytest.approx(figures["D15"], abs=0.1)


def test_a_tree_of_all_ranks(figures: dict[str, float]) -> None:
    assert tree(flat(RANKS, Link(5_000.0, 50.0))).rounds == figures["D16"]


@pytest.fixture(scope="module")
def log(shared: Path) -> list[str]:
    """Log of an all-reduce on two p4de, 16 GPUs; it names neither nodes nor ranks."""
    folder = shared / "data" / "nccl" / "aws-samples_awsome-distributed-training"
    return (folder / "all_reduce_2x_p4de.log").read_text().splitlines()


@pytest.fixture(scope="module")
def tests(log: list[str]) -> list[Row]:
    """Rows of the log as the lake holds them."""
    read = read_lines(nccl_tests.SOURCE, *log, name="all_reduce_2x_p4de.log")
    return [row | {"run_id": "p4de"} for row in rows(held(read), BandwidthTests)]


def test_every_busbw_follows_from_size_and_time(tests: list[Row]) -> None:
    found = checked(tests)
    assert len(found) == 2 * 29
    assert Counter(row["in_place"] for row in found) == {False: 29, True: 29}
    # no other number of ranks than 16 gives the printed ratio of busbw to algbw
    assert {(row["ranks"], row["ranks_basis"]) for row in found} == {(16, "bandwidths")}
    # 57 and 54 equal the printed digits; the other 1 and 4 are those of a time that is
    # printed alike: 2**31 B in 51,406 us are 41.775 GB/s to five digits
    algbw = Counter(row["algbw_agreement"] for row in found)
    busbw = Counter(row["busbw_agreement"] for row in found)
    assert algbw == {"exact": 57, "within_rounding": 1}
    assert busbw == {"exact": 54, "within_rounding": 4}


def test_the_printed_digits_hold_without_this_code(log: list[str]) -> None:
    # the same in plain arithmetic, from the text of the log
    lines = [line.removeprefix("0:").split() for line in log]
    cells = [line for line in lines if line and line[0].isdigit()]
    assert len(cells) == 29
    for row in cells:
        for time, busbw in ((row[5], row[7]), (row[9], row[11])):
            half = 0.05 if "." in time else 0.5
            ends = [
                int(row[0]) / (float(time) + sign * half) / 1e3 * 2 * 15 / 16
                for sign in (1, -1)
            ]
            assert ends[0] - 0.00501 <= float(busbw) <= ends[1] + 0.00501


@pytest.mark.parametrize("in_place", [False, True])
def test_the_floor_and_the_asymptote_of_two_p4de(
    tests: list[Row], in_place: bool
) -> None:
    (row,) = [r for r in anatomy(tests=tests) if r["in_place"] == in_place]
    assert (row["sizes_count"], row["ranks"]) == (29, 16)
    # every size up to 1 kB takes 160.6 us to 165.0 us
    assert 158_000 < row["alpha_ns"] < 165_000
    assert row["alpha_low_ns"] < 161_000 < row["alpha_high_ns"]
    # 78.33 GB/s at 2 GiB and rising; from 1 GiB to 2 GiB a byte adds 1/79.9 ns
    assert 78.33 < row["busbw_gbs"] < 81
    last = 2**30 / (51_406_000 - 26_217_000) * 2 * 15 / 16
    assert row["busbw_low_gbs"] < last < row["busbw_high_gbs"]
    # one line does not fit the protocols in between
    assert row["worst_bytes"] == 2**24
    assert row["worst_ratio"] == pytest.approx(2.14, abs=0.02)


def test_what_two_p4de_can_carry_rules_a_ring_out(tests: list[Row]) -> None:
    # GIVEN what a p4de has by its maker: 400 Gb/s of network for eight GPUs, that is
    # 6.25 GB/s each, and 300 GB/s one way through NVSwitch
    named = [row | {"hosts": "p4de-1,p4de-2"} for row in tests]
    fits, sizes = measure_latency(frames_of(tests=named))
    card = {"run_id": "p4de", "nvlink_gbs": 300.0, "network_gbs": 6.25}
    frames = Frames(
        {
            LatencyAnatomy: fits.lazy(),
            LatencySizes: sizes.lazy(),
            RunCards: frame(RunCards, [card]),
        }
    )
    found = compare_models(frames).to_dicts()
    out = {row["model"]: row for row in found if not row["in_place"]}
    # THEN 15/8 of 42.4 GB/s would have to leave a node of a ring that has 50: a ring
    # over all GPUs cannot be what ran; what sends each byte once between nodes can
    assert 8 * out["ring"]["between_gbs"] == pytest.approx(79.5, abs=0.5)
    assert not out["ring"]["is_possible"]
    for name in ("tree", "hierarchical"):
        assert 8 * out[name]["between_gbs"] == pytest.approx(42.4, abs=0.3)
        assert out[name]["is_possible"]
