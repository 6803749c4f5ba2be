"""Parts are compared only where their keys may be equal, and always there."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest._box import Box, meeting
from ingest.manifest import Part
from ingest.staging import write_parts
from ingest.tables import GroupStatus

names = st.one_of(
    st.sampled_from(["a", "b"]),
    st.text(min_size=1, max_size=3),
    st.text("xy", min_size=62, max_size=70),
)
keys = st.tuples(names, st.none() | st.integers(0, 2), names, names, st.integers(0, 3))
some = st.lists(keys, min_size=1, max_size=4)


def rows_of(chosen: list[tuple[object, ...]]) -> pl.DataFrame:
    """Rows of group_status with such keys."""
    frame = pl.DataFrame(chosen, schema=list(GroupStatus.key), orient="row")
    frame = frame.with_columns(file_id=pl.lit("f"))
    empty = GroupStatus.create_empty()
    whole = pl.concat([empty, frame], how="diagonal_relaxed")
    return GroupStatus.validate(whole.cast(pl.Schema(empty.schema)))


def part_of(folder: Path, rows: pl.DataFrame) -> Part:
    (part,) = write_parts(folder, GroupStatus, rows, "raw")
    return part


@given(one=some, other=some)
@settings(deadline=None, max_examples=50)
def test_parts_that_share_a_key_meet(
    tmp_path_factory: pytest.TempPathFactory,
    one: list[tuple[object, ...]],
    other: list[tuple[object, ...]],
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = [rows_of(one), rows_of(other)]
    parts = [part_of(folder, some_rows) for some_rows in rows]
    if set(one) & set(other):
        assert meeting(parts[:1], parts[1:]) == parts[:1]
    for some_rows, part in zip(rows, parts, strict=True):
        assert some_rows.filter(Box.of(part).holds()).equals(some_rows)
        assert some_rows.filter(Box.around(parts).holds()).equals(some_rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", None, "a", "a", 0), ("b", None, "a", "a", 0)),
        (("a", None, "a", "a", 0), ("a", 0, "a", "a", 0)),
        (("a", 1, "a", "a", 0), ("a", 1, "a", "a", 1)),
        (("a" * 64, 1, "a", "a", 0), ("b" * 64, 1, "a", "a", 0)),
    ],
)
def test_parts_that_differ_in_one_column_do_not_meet(
    tmp_path: Path, one: tuple[object, ...], other: tuple[object, ...]
) -> None:
    parts = [part_of(tmp_path, rows_of([key])) for key in (one, other)]
    assert meeting(parts[:1], parts[1:]) == []
    assert rows_of([one]).filter(Box.of(parts[1]).holds()).is_empty()


def test_the_rows_of_a_part_are_not_compared_with_themselves(tmp_path: Path) -> None:
    part = part_of(tmp_path, rows_of([("a", 1, "a", "a", 0)]))
    assert meeting([part], [part]) == []
