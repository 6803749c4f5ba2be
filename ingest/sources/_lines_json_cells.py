"""Cells of lines of JSON: a key, its value, and what is around them."""

from dataclasses import dataclass
from typing import Final

import msgspec
import polars as pl

from ingest.sources._lines_json import kind_of

#: Values in which nothing has to be unescaped.
_NUMBER: Final = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_TEXT: Final = r'"[^"\\\x00-\x1f]*"'
_ANY: Final = rf"{_NUMBER}|{_TEXT}|true|false|null"
_NULL: Final = "null"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that every line has.

    Attributes:
        name: Column of it as text.
        key: Key of its value.
        start: What stands before the value.
        end: What stands behind it.
        dtype: Type of the value; none where nobody wants it.
    """

    name: str
    key: str
    start: str
    end: str
    dtype: pl.DataType | None

    @property
    def column(self) -> str:
        """Column of its value."""
        return f"value {self.name}"

    def literal(self, text: str) -> pl.Expr | None:
        """Return the value of a cell that all lines share; none if it is of no type."""
        value = text.removeprefix(self.start).removesuffix(self.end)
        try:
            found = msgspec.json.decode(value, type=kind_of(self.dtype))
        except msgspec.DecodeError:
            return None
        return pl.lit(found, self.dtype)

    def is_framed(self) -> pl.Expr:
        """Return whether the cell starts and ends as it should."""
        starts = pl.col(self.name).str.starts_with(self.start)
        ends = pl.col(self.name).str.ends_with(self.end)
        return starts & ends if self.end else starts

    def bare(self) -> pl.Expr:
        """Return the text of the value, in the place of the cell."""
        text = pl.col(self.name).str.tail(-len(self.start))
        return text.str.strip_suffix(self.end) if self.end else text

    def values(self) -> list[pl.Expr]:
        """Return the value of each text, where anybody wants it."""
        text, dtype = pl.col(self.name), self.dtype
        if dtype is None:
            return []
        if dtype.is_numeric():
            return [text.cast(dtype, strict=False).alias(self.column)]
        bare = text.str.tail(-1).str.strip_suffix('"')
        return [pl.when(text != _NULL).then(bare).alias(self.column)]

    def is_plain(self) -> pl.Expr:
        """Return whether each text surely fits: a whole number that starts with 1 to 9.

        It is quick to see, and true of most numbers. The column has the cell's name.
        """
        if self.dtype is None or not self.dtype.is_integer():
            return pl.lit(value=False).alias(self.name)
        return (pl.col(self.name) >= "1") & pl.col(self.column).is_not_null()

    def fits(self) -> pl.Expr:
        """Return whether each text is a value of the type, or null, in JSON."""
        text, value, dtype = pl.col(self.name), pl.col(self.column), self.dtype
        if dtype is None:
            return text.str.contains(rf"^(?:{_ANY})$")
        is_null = text == _NULL
        if dtype.is_integer():
            return is_null | (value.is_not_null() & _is_whole(text))
        if dtype.is_float():
            is_number = text.str.contains(rf"^{_NUMBER}$") & value.is_finite()
            # minus zero, and what is too small to be told from it, may lose its sign
            return is_null | (is_number & ((value != 0) | (text >= "0")))
        return is_null | text.str.contains(rf"^{_TEXT}$")


def _is_whole(number: pl.Expr) -> pl.Expr:
    """Return whether a whole number is as JSON has it: without a plus or more zeros."""
    is_negative = (number >= "-1") & (number < "-:")
    return (number >= "1") | (number == "0") | is_negative
