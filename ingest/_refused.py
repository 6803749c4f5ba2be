"""Refused rows as the lake keeps them: where they are, and the rule that they break."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest._schema import FILE_ID, schema_of
from ingest.phrases import phrase
from ingest.sources import Refusal
from ingest.sources._places import PLACE
from ingest.sources._source import RAW_CHARACTERS
from ingest.tables import RejectedRows, Table

#: Rule of a row whose key another row has.
DUPLICATE: Final = "duplicate"

#: Where the row is that has the key of a row of another file.
_ELSEWHERE: Final = "in another file, whose row is kept"


def key_of(table: type[Table]) -> pl.Expr:
    """Return the key of rows in words that tell any two of a file apart."""
    names = [name for name in table.key if name != FILE_ID]
    json = [pl.struct(name).struct.json_encode() for name in names]
    values = [
        # without the braces and the name around it
        text.str.slice(len(name) + len('{"":')).str.strip_suffix("}")
        for name, text in zip(names, json, strict=True)
    ]
    return phrase(", ".join(f"{name} {{}}" for name in names), *values)


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


def of_duplicates(
    table: type[Table], lost: pl.DataFrame, where: str = "", hint: str = _ELSEWHERE
) -> pl.DataFrame:
    """Return rows that lost to an equal key as records, their key for a place.

    Args:
        table: Table of the rows.
        lost: The rows.
        where: Added to the key, so that a file's rows of one key can be told apart.
        hint: Which row has the key.
    """
    place = phrase("{}{}", key_of(table), pl.lit(where)).alias(PLACE)
    named = ", ".join(name for name in table.key if name != FILE_ID)
    told = pl.lit(f"the same key ({named}) is {hint}")
    return as_records(
        table, lost.with_columns(place, hint=told, rule=pl.lit(DUPLICATE))
    )


def of_refusals(refused: Sequence[Refusal], file_id: str) -> pl.DataFrame:
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
