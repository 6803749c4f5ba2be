"""Rows held against the rules of their table, and against each other's keys."""

import types
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import dataframely as dy
import polars as pl

from ingest._order import ascends, in_order
from ingest._refused import DUPLICATE, as_records, key_of
from ingest._schema import FILE_ID, schema_of
from ingest.phrases import phrase
from ingest.sources._places import PLACE, PLACE_NUMBERS, with_place
from ingest.tables import RejectedRows, Table

#: Number of a row among those that its file offers to the table.
ORDER: Final = "_order"


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
        frame: Rows; nullable columns, `file_id` and their place may be missing.
        file_id: File that they were read from.
        rows_before: Rows that the file offered to the table before.
    """
    missing = [
        pl.lit(None, column.dtype).alias(name)
        for name, column in table.columns().items()
        if name not in frame.columns and column.nullable
    ]
    number = pl.int_range(rows_before + 1, rows_before + 1 + pl.len())
    place = [pl.col(PLACE).cast(pl.String)] if PLACE in frame.columns else []
    return frame.with_columns(
        *missing, *place, number.alias(ORDER), pl.lit(file_id).alias(FILE_ID)
    )


def _with_place(rows: pl.DataFrame) -> pl.DataFrame:
    return with_place(rows, phrase("row {}", ORDER))


def check(table: type[Table], offered: pl.DataFrame) -> Checked:
    """Hold complete rows against the rules of their table, its key aside.

    That all of them keep the rules is quick to see, and hardly ever wrong.
    """
    kept = [*table.column_names(), ORDER]
    typed = _typed(table, offered)
    if typed is not None and table.is_valid(typed.select(table.column_names())):
        places = [n for n in (PLACE, *PLACE_NUMBERS) if n in typed.columns]
        return Checked(typed.select(*kept, *places), RejectedRows.create_empty())
    placed = _with_place(offered)
    taken, failure = _placed(table).filter(placed, cast=True)
    refused = failure.details()
    if refused.is_empty():
        return Checked(taken, RejectedRows.create_empty())
    rules = [name for name in refused.columns if name not in placed.columns]
    broken = [pl.when(pl.col(r) == "invalid").then(pl.lit(r)) for r in rules]
    records = refused.with_columns(rule=pl.coalesce(broken))
    return Checked(taken, as_records(table, records))


def _typed(table: type[Table], offered: pl.DataFrame) -> pl.DataFrame | None:
    """Return rows in the types of their table; none where a value has no such type."""
    schema = schema_of(table)
    others = [n for n, dtype in schema.items() if offered.schema.get(n) != dtype]
    if not set(others).issubset(offered.columns):
        return None
    cast = offered.with_columns(pl.col(n).cast(schema[n], strict=False) for n in others)
    before, after = offered.select(others), cast.select(others)
    return cast if before.null_count().equals(after.null_count()) else None


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
    names = table.column_names()
    if ascends(taken, key, strictly=True):
        return Checked(taken.select(names), RejectedRows.create_empty())
    ordered = in_order(taken, (*key, ORDER))
    if ascends(ordered, key, strictly=True):
        return Checked(ordered.select(names), RejectedRows.create_empty())
    marked = ordered.with_columns(repeats(key).alias("_repeats"))
    first = marked.filter(~pl.col("_repeats")).select(names)
    again = _with_the_first(table, _with_place(marked)).filter("_repeats")
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
            key_of(table),
            pl.when(is_first).then(pl.col(PLACE)).forward_fill(),
            differs.otherwise(pl.lit("")),
        )
    )


def repeats(key: Sequence[str]) -> pl.Expr:
    """Whether a row has the key of the row before it; null equals null."""
    same = [pl.col(name).eq_missing(pl.col(name).shift()) for name in key]
    return pl.all_horizontal(same) & (pl.int_range(pl.len()) > 0)
