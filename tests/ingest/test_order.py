"""Rows seen to be in order are those that a sort would leave as they are."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest._order import ascends, in_order, is_constant
from tests.examples import examples

KEY = ("name", "number")
CELLS = st.tuples(
    st.sampled_from([None, "", "a", "b"]), st.sampled_from([None, -1, 0, 1])
)


@given(rows=st.lists(CELLS, max_size=5))
@settings(max_examples=examples(300))
def test_rows_ascend_where_sorting_leaves_them(rows: list[tuple[object, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=["name", "number"], orient="row")
    frame = frame.cast({"name": pl.String, "number": pl.Int64})
    ordered = frame.sort(KEY)
    assert ascends(frame, KEY, strictly=False) == frame.equals(ordered)
    is_strict = frame.equals(ordered) and frame.unique().height == frame.height
    assert ascends(frame, KEY, strictly=True) == is_strict
    assert in_order(frame, KEY).equals(ordered)


def test_a_column_is_constant_where_all_rows_have_one_value() -> None:
    assert is_constant(pl.Series([], dtype=pl.Int64))
    assert is_constant(pl.Series([None, None], dtype=pl.Int64))
    assert is_constant(pl.Series(["a", "a"]))
    assert not is_constant(pl.Series(["a", None]))
    assert not is_constant(pl.Series([1, 2]))
