"""Records of a file as columns of text, whatever they were written as."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest._mapping_targets import FIELD
from ingest.sources import Refusal

#: Where a record is in the file, and what is wrong with it.
PLACE: Final = "place"
RULE: Final = "rule"

#: The record as it was found; a format without lines has none.
LINE: Final = "line"

_WHITE: Final = " \t\r\n\f\v"


@dataclass(frozen=True, slots=True)
class Cells:
    """Some records.

    Attributes:
        frame: The fields as text, null where there is none, with `place`, `rule` where
            the record cannot be used, and `line` where the format has lines.
        refused: Records that did not come so far.
        repairs: Repairs that reading needed. [1]
    """

    frame: pl.DataFrame
    refused: tuple[Refusal, ...] = ()
    repairs: int = 0


def column_of(name: str) -> str:
    """Return the column of a field."""
    return f"{FIELD}{name}"


def content(text: pl.Expr, null: tuple[str, ...]) -> pl.Expr:
    """Return a text without blanks around it; null where it says that there is none."""
    stripped = text.str.strip_chars(_WHITE)
    is_none = stripped.is_in(("", *null))
    return pl.when(~is_none).then(stripped)
