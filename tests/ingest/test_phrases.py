"""Text of columns, whatever chunks a frame has."""

import polars as pl
import pytest

from ingest.phrases import phrase


def sparse() -> pl.DataFrame:
    """Return a frame of one row whose first chunks are empty."""
    both = {"text": ["one", "two"], "number": [1, 2]}
    kept = pl.DataFrame({**both, "keep": [True, False]})
    left_out = kept.with_columns(keep=pl.lit(value=False))
    lazy = pl.concat([*[left_out] * 9, kept], rechunk=False).lazy()
    return lazy.filter("keep").select("text", "number").collect()


def test_a_frame_may_begin_with_empty_chunks() -> None:
    frame = sparse()
    assert frame["text"].chunk_lengths()[0] == 0
    nth = pl.int_range(pl.len()).over("number") + 1
    rows = frame.select(
        phrase("line {}", "number").alias("a"),
        phrase("{} #{}", "text", nth).alias("b"),
        phrase("{}{}", pl.col("text"), pl.lit("")).alias("c"),
    )
    assert rows.row(0) == ("line 1", "one #1", "one")


def test_a_part_that_is_null_leaves_no_text() -> None:
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": [True, False]})
    said = frame.select(phrase("<{}, {}: {}>", "a", "b", "c"))
    assert said.to_series().to_list() == ["<1.5, x: true>", None]


def test_every_part_has_its_place() -> None:
    with pytest.raises(ValueError, match=r"1 parts for 'line'"):
        phrase("line", "number")
