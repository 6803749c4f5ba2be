"""Rows held against the rules of their table, and the records of those it refuses."""

import types
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import dataframely as dy
import polars as pl

from ingest._schema import FILE_ID, schema_of
from ingest.phrases import phrase
from ingest.sources import Refusal
from ingest.sources._source import RAW_CHARACTERS
from ingest.tables import RejectedRows, Table

#: Column that a reader may add: where in the file a row is.
PLACE: Final = "place"

#: Number of a row among those that its file offers to the table.
ORDER: Final = "_order"

#: Rule of a row whose key another row has.
DUPLICATE: Final = "duplicate"

#: Where the row is that has the key of a row of another file.
_ELSEWHERE: Final = "in another file, whose row is kept"


class Checked(NamedTuple):
    """Rows that a table takes, with their places, and the refused ones as records."""

    taken: pl.DataFrame
    refused: pl.DataFrame


def complete(
    table: type[Table], frame: pl.DataFrame, file_id: str, rows_before: int
) -> pl.DataFrame:
    """Return rows with what a reader may leave out, and their number in the file.

    Args:
        table: Table that the rows are offered to.
        frame: Rows; nullable columns, `file_id` and `place` may be missing.
        file_id: File that they were read from.
        rows_before: Rows that the file offered to the table before.
    """
    missing = [
        pl.lit(None, column.dtype).alias(name)
        for name, column in table.columns().items()
        if name not in frame.columns and column.nullable
    ]
    number = pl.int_range(rows_before + 1, rows_before + 1 + pl.len())
    place = phrase("row {}", number)
    if PLACE in frame.columns:
        place = pl.coalesce(pl.col(PLACE).cast(pl.String), place)
    return frame.with_columns(
        *missing,
        place.alias(PLACE),
        number.alias(ORDER),
        pl.lit(file_id).alias(FILE_ID),
    )


def check(table: type[Table], offered: pl.DataFrame) -> Checked:
    """Hold complete rows against the rules of their table, its key aside."""
    taken, failure = _placed(table).filter(offered, cast=True)
    refused = failure.details()
    if refused.is_empty():
        return Checked(taken, RejectedRows.create_empty())
    rules = [name for name in refused.columns if name not in offered.columns]
    broken = [pl.when(pl.col(r) == "invalid").then(pl.lit(r)) for r in rules]
    records = refused.with_columns(rule=pl.coalesce(broken))
    return Checked(taken, as_records(table, records))


@cache
def _placed(table: type[Table]) -> type[Table]:
    """Return the table with the places of its rows, so that they survive a check."""

    def body(namespace: dict[str, object]) -> None:
        namespace[PLACE] = dy.String()
        namespace[ORDER] = dy.Int64()

    placed: type[Table] = types.new_class(table.__name__, (table,), {}, body)
    return placed


def split_repeats(table: type[Table], taken: pl.DataFrame) -> Checked:
    """Sort rows by their key; of those of a file that share one, the first is taken."""
    key = (*table.key, FILE_ID)
    marked = taken.sort(*key, ORDER).with_columns(repeats(key).alias("_repeats"))
    first = marked.filter(~pl.col("_repeats")).select(table.column_names())
    if first.height == marked.height:
        return Checked(first, RejectedRows.create_empty())
    again = _with_the_first(table, marked).filter("_repeats")
    return Checked(first, as_records(table, again.with_columns(rule=pl.lit(DUPLICATE))))


def _with_the_first(table: type[Table], marked: pl.DataFrame) -> pl.DataFrame:
    """Return rows with a hint where the first of their key is, and whether it differs.

    Args:
        table: Table of the rows.
        marked: Rows sorted by key, and by `_repeats` those behind a row of equal key.
    """
    others = [n for n in table.column_names() if n not in {*table.key, FILE_ID}]
    values = pl.struct(others).hash() if others else pl.lit(0, pl.UInt64)
    is_first = ~pl.col("_repeats")
    of_first = pl.when(is_first).then(values).forward_fill()
    differs = pl.when(values != of_first).then(pl.lit(", with other values"))
    return marked.with_columns(
        hint=phrase(
            "the same key ({}) is already at {}{}",
            _key_of(table),
            pl.when(is_first).then(pl.col(PLACE)).forward_fill(),
            differs.otherwise(pl.lit("")),
        )
    )


def _key_of(table: type[Table]) -> pl.Expr:
    """Return the key of rows in words that tell any two of a file apart."""
    names = [name for name in table.key if name != FILE_ID]
    json = [pl.struct(name).struct.json_encode() for name in names]
    values = [
        # without the braces and the name around it
        text.str.slice(len(name) + len('{"":')).str.strip_suffix("}")
        for name, text in zip(names, json, strict=True)
    ]
    return phrase(", ".join(f"{name} {{}}" for name in names), *values)


def repeats(key: Sequence[str]) -> pl.Expr:
    """Whether a row has the key of the row before it; null equals null."""
    same = [pl.col(name).eq_missing(pl.col(name).shift()) for name in key]
    return pl.all_horizontal(same) & (pl.int_range(pl.len()) > 0)


def as_records(table: type[Table], refused: pl.DataFrame) -> pl.DataFrame:
    """Return refused rows, with their `place` and `rule`, as rows of RejectedRows."""
    shown = [name for name in table.column_names() if name != FILE_ID]
    raw = pl.struct(shown).struct.json_encode().str.head(RAW_CHARACTERS)
    return refused.select(
        FILE_ID,
        table_name=pl.lit(table.sql_name()),
        place=pl.col(PLACE),
        rule=pl.col("rule"),
        raw=raw,
        hint=pl.col("hint") if "hint" in refused.columns else pl.lit(None, pl.String),
    )


def records_of_duplicates(
    table: type[Table], lost: pl.DataFrame, where: str = "", hint: str = _ELSEWHERE
) -> pl.DataFrame:
    """Return rows that lost to an equal key as records, their key for a place.

    Args:
        table: Table of the rows.
        lost: The rows.
        where: Added to the key, so that a file's rows of one key can be told apart.
        hint: Which row has the key.
    """
    place = phrase("{}{}", _key_of(table), pl.lit(where)).alias(PLACE)
    named = ", ".join(name for name in table.key if name != FILE_ID)
    told = pl.lit(f"the same key ({named}) is {hint}")
    return as_records(
        table, lost.with_columns(place, hint=told, rule=pl.lit(DUPLICATE))
    )


def records_of_refusals(refused: Sequence[Refusal], file_id: str) -> pl.DataFrame:
    """Return records that a reader refused as rows of RejectedRows."""
    rows = [
        (file_id, r.table.sql_name(), r.place, r.rule, r.raw, r.hint) for r in refused
    ]
    frame = pl.DataFrame(rows, schema=schema_of(RejectedRows), orient="row")
    return frame.with_columns(pl.col("raw").str.head(RAW_CHARACTERS))


def tell_apart(records: pl.DataFrame) -> pl.DataFrame:
    """Number records of one place that break one rule: the second is `line 7 #2`."""
    nth = pl.int_range(pl.len()).over(RejectedRows.key) + 1
    numbered = phrase("{} #{}", PLACE, nth)
    place = pl.when(nth > 1).then(numbered).otherwise(pl.col(PLACE))
    return records.with_columns(place.alias(PLACE))
