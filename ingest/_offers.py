"""Rows that a reader offers to a table: which the table takes, and which it refuses."""

import types
from collections.abc import Sequence
from typing import Final, NamedTuple

import dataframely as dy
import polars as pl

from ingest._parts import FILE_ID, schema_of
from ingest.sources._source import RAW_CHARACTERS, Refusal
from ingest.tables import RejectedRows, Table

#: Column that a reader may add: where in the file a row is.
PLACE: Final = "place"

#: Rule of a row whose key another row has.
DUPLICATE: Final = "duplicate"


class Checked(NamedTuple):
    """Rows that a table takes, with their places, and the refused ones as records."""

    taken: pl.DataFrame
    refused: pl.DataFrame


def check(
    table: type[Table], frame: pl.DataFrame, file_id: str, rows_before: int
) -> Checked:
    """Hold rows against the rules of their table.

    Args:
        table: Table that the rows are offered to.
        frame: Rows; nullable columns, `file_id` and `place` may be missing.
        file_id: File that they were read from.
        rows_before: Rows of the file offered to the table before; they number the
            rows of a reader that gives no places.
    """
    offered = _complete(table, frame, file_id, rows_before)
    taken, failure = _placed(table).filter(offered, cast=True)
    refused = failure.details()
    if refused.is_empty():
        return Checked(taken, RejectedRows.create_empty())
    rules = [name for name in refused.columns if name not in offered.columns]
    broken = [pl.when(pl.col(r) == "invalid").then(pl.lit(r)) for r in rules]
    records = refused.with_columns(rule=pl.coalesce(broken))
    return Checked(taken, as_records(table, records))


def _complete(
    table: type[Table], frame: pl.DataFrame, file_id: str, rows_before: int
) -> pl.DataFrame:
    columns = table.columns()
    missing = [
        pl.lit(None, column.dtype).alias(name)
        for name, column in columns.items()
        if name not in frame.columns and column.nullable
    ]
    number = pl.int_range(rows_before + 1, rows_before + 1 + pl.len())
    place = pl.format("row {}", number)
    if PLACE in frame.columns:
        place = pl.coalesce(pl.col(PLACE).cast(pl.String), place)
    return frame.with_columns(
        *missing, pl.lit(file_id).alias(FILE_ID), place.alias(PLACE)
    )


def _placed(table: type[Table]) -> type[Table]:
    """Return the table with the place of its rows, so that it survives the check."""

    def body(namespace: dict[str, object]) -> None:
        namespace[PLACE] = dy.String(nullable=True)

    placed: type[Table] = types.new_class(table.__name__, (table,), {}, body)
    return placed


def split_repeats(table: type[Table], taken: pl.DataFrame) -> Checked:
    """Sort rows by their key; of those that share one, the first is taken."""
    rows = taken.sort(table.key, maintain_order=True)
    same = [pl.col(name).eq_missing(pl.col(name).shift()) for name in table.key]
    is_repeat = pl.all_horizontal(pl.int_range(pl.len()) > 0, *same)
    marked = rows.with_columns(is_repeat.alias("_repeat"))
    repeats = marked.filter("_repeat").with_columns(rule=pl.lit(DUPLICATE))
    return Checked(
        marked.filter(~pl.col("_repeat")).drop("_repeat"), as_records(table, repeats)
    )


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
    )


def records_of_duplicates(
    table: type[Table], lost: pl.DataFrame, where: str = ""
) -> pl.DataFrame:
    """Return rows that lost to an equal key as records, their key for a place.

    Args:
        table: Table of the rows.
        lost: The rows.
        where: Added to the key, so that a file's rows of one key can be told apart.
    """
    key = pl.struct(table.key).struct.json_encode()
    place = pl.format("{}{}", key, pl.lit(where)).alias(PLACE)
    return as_records(table, lost.with_columns(place, rule=pl.lit(DUPLICATE)))


def without_places(taken: pl.DataFrame) -> pl.DataFrame:
    """Return rows as the table has them."""
    return taken.drop(PLACE)


def refusals(records: Sequence[Refusal], file_id: str) -> pl.DataFrame:
    """Return records that a reader refused as rows of RejectedRows."""
    rows = [
        (file_id, refusal.table.sql_name(), refusal.place, refusal.rule, refusal.raw)
        for refusal in records
    ]
    frame = pl.DataFrame(rows, schema=schema_of(RejectedRows), orient="row")
    return frame.with_columns(pl.col("raw").str.head(RAW_CHARACTERS))


def tell_apart(records: pl.DataFrame) -> pl.DataFrame:
    """Number records of one place that break one rule: the second is `line 7 #2`."""
    nth = pl.int_range(pl.len()).over(RejectedRows.key) + 1
    numbered = pl.format("{} #{}", PLACE, nth)
    place = pl.when(nth > 1).then(numbered).otherwise(pl.col(PLACE))
    return records.with_columns(place.alias(PLACE))
