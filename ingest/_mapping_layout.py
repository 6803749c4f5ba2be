"""How records lie in a file, and which of them are meant."""

from dataclasses import dataclass

import polars as pl

from ingest._mapping_card import Form, Map, Where
from ingest._mapping_targets import field
from ingest.errors import SettingError


@dataclass(frozen=True, slots=True)
class Layout:
    """How records lie in a file; None where the file shows it."""

    form: Form | None
    delimiter: str | None
    header: bool | tuple[str, ...]
    skip: int
    comment: str | None
    null: tuple[str, ...]


def condition(where: Where) -> pl.Expr:
    content = field(where.column)
    if where.equals is None and where.differs is None:
        message = f"where: {where.column}: expected equals or differs"
        raise SettingError(message)
    holds = pl.lit(value=True)
    if where.equals is not None:
        holds &= content.is_in(as_tuple(where.equals)).fill_null(value=False)
    if where.differs is not None:
        holds &= ~content.is_in(as_tuple(where.differs)).fill_null(value=False)
    return holds


def layout_of(written: Map) -> Layout:
    header = written.header
    if isinstance(header, tuple) and len(set(header)) != len(header):
        message = "header: expected names that differ"
        raise SettingError(message)
    return Layout(
        form=written.format,
        delimiter="\t" if written.format == "tsv" else written.delimiter,
        header=header,
        skip=written.skip,
        comment=written.comment,
        null=written.null,
    )


def as_tuple(words: tuple[str, ...] | str | None) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words or ()
