"""Rows in order of integers, against sorting them one by one."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from analysis._ordering import order_of

number = st.integers(-3, 3) | st.integers(-(2**62), 2**62)


@given(st.lists(st.tuples(number, number, st.integers(0, 2)), max_size=9))
def test_rows_are_in_order(rows: list[tuple[int, int, int]]) -> None:
    keys = np.array(rows, dtype=np.int64).reshape(len(rows), 3).T
    order = order_of(*keys)
    assert sorted(order) == list(range(len(rows)))
    assert [rows[place] for place in order] == sorted(rows)
