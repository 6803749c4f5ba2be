"""The header of a log of nvidia-smi: where each field is, and in which unit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources._lines_csv import cell, names_of
from ingest.sources._power.fields import canonical, measures

#: Field of the time of a sample.
TIME: Final = "timestamp"

_FIELD = re.compile(r"([^\[\]]+?)\s*(?:\[([^\[\]]*)\])?")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the fields of a line are.

    Attributes:
        header: The header as it was found.
        width: Fields of a line. [1]
        fields: Position and unit of each field that is read, by name.
    """

    header: str
    width: int
    fields: Mapping[str, tuple[int, str]]

    @property
    def units(self) -> dict[str, str]:
        """The unit in the header of each field but the time, by name."""
        return {name: unit for name, (_, unit) in self.fields.items() if name != TIME}

    def cells(self) -> list[pl.Expr]:
        """Return the fields of split lines as columns; null where they are empty."""
        return [cell(index).alias(name) for name, (index, _) in self.fields.items()]


def layout_of(line: str) -> Layout | None:
    """Return the layout that a header gives; None where the line is none for us."""
    names = names_of(line)
    fields: dict[str, tuple[int, str]] = {}
    for index, text in enumerate(names):
        if match := _FIELD.fullmatch(text):
            name = TIME if match[1] == TIME else canonical(match[1])
            if name:
                fields.setdefault(name, (index, match[2] or ""))
    layout = Layout(line, len(names), fields)
    return layout if TIME in fields and measures(fields) else None
