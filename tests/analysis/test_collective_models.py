"""Models of collectives: drawn by hand for few ranks, and their laws for any."""

from math import inf, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.collective_models import (
    KINDS,
    MODELS,
    Layout,
    Link,
    crossing_bytes,
    flat,
    hierarchical,
    in_network,
    ring,
    slice_bytes,
    tree,
)
from ingest.errors import SettingError

NVLINK, NETWORK = Link(600.0, 450.0), Link(5000.0, 50.0)


def two_nodes(ranks: int = 16) -> Layout:
    return Layout(ranks, 2, NVLINK, NETWORK)


def test_a_ring_of_four_by_hand() -> None:
    # four slices of 250 B: three rounds add, three rounds gather, one slice in each
    model = ring(flat(4, Link(1000.0, 10.0)))
    assert model.rounds == 6
    assert slice_bytes(1000, 4) == 250
    assert model.time_ns(1000) == pytest.approx(6 * 1000 + 6 * 250 / 10)


def test_a_tree_of_eight_by_hand() -> None:
    # three levels up and three down; each of the 8 sends 2 x 7 / 8 of the message
    model = tree(flat(8, Link(1000.0, 10.0)))
    assert model.rounds == 6
    assert model.time_ns(800) == pytest.approx(6 * 1000 + 1400 / 10)


def test_hierarchical_on_two_nodes_by_hand() -> None:
    # 7 rounds inside, 2 between (one adds, one gathers), 7 back inside; 7/8 of the
    # message twice through NVLink, an eighth of it for each GPU between nodes
    model = hierarchical(two_nodes())
    assert [leg.rounds for leg in model.legs] == [14, 2]
    assert model.fixed_ns == pytest.approx(14 * 600 + 2 * 5000)
    assert model.ns_per_byte == pytest.approx(14 / 8 / 450 + 1 / 8 / 50)


def test_a_ring_over_nodes_sends_more_between_them_than_a_tree() -> None:
    # 15/8 of the message leave a node of the ring, one message a node of the tree
    by_ring, by_tree = ring(two_nodes()), tree(two_nodes())
    assert by_ring.legs[1].wire_ratio == pytest.approx(15 / 8 / 8)
    assert by_tree.legs[1].wire_ratio == pytest.approx(1 / 8)
    # the slowest slice passes both hops between nodes, twice
    assert [leg.rounds for leg in by_ring.legs] == [26, 4]
    assert [leg.rounds for leg in by_tree.legs] == [6, 2]


def test_switches_take_each_byte_once() -> None:
    one = in_network(Layout(8, 1, NVLINK, NETWORK))
    assert one.rounds == 2
    assert one.algbw_gbs == pytest.approx(450)
    # through NVLink and the network at once: 1/450 and 1/8 of 1/50 a byte
    two = in_network(two_nodes(), levels=3)
    assert two.rounds == 8
    assert two.ns_per_byte == pytest.approx(1 / 400)


def test_half_of_an_all_reduce_is_an_all_gather() -> None:
    for build in (ring, tree, hierarchical):
        whole, half = build(two_nodes(), "allreduce"), build(two_nodes(), "allgather")
        assert half.time_ns(1e6) * 2 == pytest.approx(whole.time_ns(1e6))


def test_the_crossing_of_a_tree_and_a_ring() -> None:
    # one kind of link: both send alike, so that fewer rounds always win
    same = flat(64, NETWORK)
    assert crossing_bytes(ring(same), tree(same)) is None
    # switches: 2 rounds of 20 us, a byte at 50 GB/s; the ring: 126 of 100 ns, 126/64
    switches = in_network(flat(64, Link(20_000.0, 50.0)))
    rings = ring(flat(64, Link(100.0, 50.0)))
    at = (40_000 - 12_600) / (126 / 64 / 50 - 1 / 50)
    assert crossing_bytes(rings, switches) == pytest.approx(at)


def test_equal_times_at_the_crossing() -> None:
    slow, fast = tree(flat(16, Link(200.0, 30.0))), hierarchical(two_nodes())
    at = crossing_bytes(slow, fast)
    assert at is not None
    assert slow.time_ns(at) == pytest.approx(fast.time_ns(at))


def test_ranks_must_spread_evenly() -> None:
    with pytest.raises(SettingError, match="9 ranks do not spread evenly"):
        Layout(9, 2, NVLINK, NETWORK)
    with pytest.raises(SettingError, match="0 ranks"):
        flat(0, NETWORK)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_one_rank_takes_no_time(name: str, kind: str) -> None:
    alone = MODELS[name](flat(1, NETWORK), kind)
    assert (alone.rounds, alone.time_ns(10**9)) == (0, 0.0)
    assert alone.algbw_gbs == inf


@given(
    nodes=st.integers(1, 64),
    per_node=st.sampled_from([1, 2, 4, 8]),
    size=st.integers(0, 1 << 40),
    kind=st.sampled_from(KINDS),
)
def test_laws_of_every_model(nodes: int, per_node: int, size: int, kind: str) -> None:
    layout = Layout(nodes * per_node, nodes, NVLINK, NETWORK)
    models = {name: build(layout, kind) for name, build in MODELS.items()}
    for model in models.values():
        # more bytes never take less time, and nothing is faster than its rounds
        assert model.time_ns(size) >= model.fixed_ns >= 0
        assert model.rounds == sum(leg.rounds for leg in model.legs)
    passes = 2 if kind == "allreduce" else 1
    assert models["ring"].rounds == passes * (layout.ranks - 1)
    levels = models["tree"].rounds / passes
    assert log2(layout.ranks) <= levels < log2(layout.ranks) + 1
    assert models["tree"].rounds <= models["ring"].rounds
