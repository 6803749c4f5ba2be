"""Parts of a graph that lead nowhere else, and nodes on all their cycles."""

import numpy as np
import numpy.typing as npt

from analysis._hang_cycles import on_every_cycle, parts_without_exit, steps_to

Numbers = npt.NDArray[np.int64]


def edges(*pairs: tuple[int, int]) -> tuple[Numbers, Numbers]:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def on_all(size: int, *pairs: tuple[int, int]) -> list[int]:
    source, target = edges(*pairs)
    part = parts_without_exit(source, target, size)
    return list(np.flatnonzero(on_every_cycle(source, target, part, size)))


def test_a_way_ends_in_the_node_without_one() -> None:
    # 0 -> 1 -> 2, and 3 -> 1
    part = parts_without_exit(*edges((0, 1), (1, 2), (3, 1)), 4)
    assert [n for n in range(4) if part[n] >= 0] == [2]


def test_a_cycle_with_a_way_out_is_no_end() -> None:
    # 0 <-> 1 -> 2
    part = parts_without_exit(*edges((0, 1), (1, 0), (1, 2)), 3)
    assert [n for n in range(3) if part[n] >= 0] == [2]


def test_all_nodes_of_one_cycle_are_on_it() -> None:
    assert on_all(3, (0, 1), (1, 2), (2, 0)) == [0, 1, 2]


def test_the_node_that_two_cycles_share() -> None:
    # 1 <-> 0 <-> 2: without 0 nothing is left
    assert on_all(3, (0, 1), (1, 0), (0, 2), (2, 0)) == [0]


def test_where_all_wait_for_all_none_is_on_every_cycle() -> None:
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    assert on_all(3, *pairs) == []


def test_steps_count_edges_to_the_nearest_goal() -> None:
    # 0 -> 1 -> 2 <- 3, 4 alone
    source, target = edges((0, 1), (1, 2), (3, 2))
    steps = steps_to(np.array([2]), source, target, 5)
    assert steps.tolist() == [2, 1, 0, 1, np.inf]
    assert np.isinf(steps_to(np.array([], dtype=np.int64), source, target, 5)).all()
