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
    again = marked.filter("_repeats").with_columns(rule=pl.lit(DUPLICATE))
    first = marked.filter(~pl.col("_repeats")).select(table.column_names())
    return Checked(first, as_records(table, again))


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
        hint=pl.lit(None, pl.String),
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
    place = phrase("{}{}", key, pl.lit(where)).alias(PLACE)
    return as_records(table, lost.with_columns(place, rule=pl.lit(DUPLICATE)))


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
