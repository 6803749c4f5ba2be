"""Parts are compared only where their keys may be equal, and always there."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest._box import Box, _order, meeting
from ingest.manifest import Part
from ingest.staging import write_parts
from ingest.tables import GroupStatus
from tests.examples import examples

names = st.one_of(
    st.sampled_from(["a", "b"]),
    st.text(min_size=1, max_size=3),
    st.text("xy", min_size=62, max_size=70),
)
keys = st.tuples(names, st.none() | st.integers(0, 2), names, names, st.integers(0, 3))

#: Columns of the key that differ here, in the order of the values above.
VARIED = ("run_id", "attempt", "dump_id", "group_id", "rank")
some = st.lists(keys, min_size=1, max_size=4)


def rows_of(chosen: list[tuple[object, ...]]) -> pl.DataFrame:
    """Rows of group_status with such keys."""
    assert set(VARIED) <= set(GroupStatus.key)
    frame = pl.DataFrame(chosen, schema=list(VARIED), orient="row")
    frame = frame.with_columns(file_id=pl.lit("f"))
    empty = GroupStatus.create_empty()
    whole = pl.concat([empty, frame], how="diagonal_relaxed")
    return GroupStatus.validate(whole.cast(pl.Schema(empty.schema)))


def part_of(folder: Path, rows: pl.DataFrame) -> Part:
    (part,) = write_parts(folder, GroupStatus, rows, "raw")
    return part


@given(one=some, other=some)
@settings(deadline=None, max_examples=examples(50))
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


bounds = st.none() | st.integers(0, 9) | st.sampled_from("abc")


@st.composite
def some_parts(draw: st.DrawFn) -> list[Part]:
    """Parts with bounds in two columns, of which some know but one."""
    parts = []
    for number in range(draw(st.integers(0, 6))):
        least, greatest = {}, {}
        for name in draw(st.sampled_from(["", "a", "ab"])):
            ends = sorted([draw(bounds), draw(bounds)], key=_order)
            least[name], greatest[name] = ends
        told = (json.dumps(least), json.dumps(greatest))
        parts.append(Part("t", None, f"p{number}", 1, 1, *told, (), "f"))
    return parts


@given(parts=some_parts(), others=some_parts())
def test_parts_meet_as_if_each_was_compared_with_each(
    parts: list[Part], others: list[Part]
) -> None:
    expected = [
        part
        for part in parts
        if any(
            part.path != other.path and Box.of(part).meets(Box.of(other))
            for other in others
        )
    ]
    assert meeting(parts, others) == expected


def test_the_rows_of_a_part_are_not_compared_with_themselves(tmp_path: Path) -> None:
    part = part_of(tmp_path, rows_of([("a", 1, "a", "a", 0)]))
    assert meeting([part], [part]) == []
