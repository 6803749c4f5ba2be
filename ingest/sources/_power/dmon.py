"""The header of `nvidia-smi dmon`: two lines of names and units that repeat."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources._power.fields import INDEX, measures

#: Columns that are stored, by the name that dmon gives them, with the unit they have
#: where no line of units follows. `pviol` and `tviol` are shares of time, no counters.
_COLUMNS: Final = {
    "gpu": (INDEX, ""),
    "pwr": ("power.draw", "W"),
    "gtemp": ("temperature.gpu", "C"),
    "temp": ("temperature.gpu", "C"),
    "mtemp": ("temperature.memory", "C"),
    "sm": ("utilization.gpu", "%"),
    "pclk": ("clocks.current.sm", "MHz"),
}

_NAMES = re.compile(r"#\s*(?:(?:date|time)[\s,]+)*gpu[\s,]+(?!pid\b)\w", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DmonLayout:
    """Where the columns of a line are.

    Attributes:
        width: Cells of a line. [1]
        fields: Position of each field that is read, by name.
        units: Unit of each of them, by name.
        stamp: Positions of date and time; None where a line has not both.
    """

    width: int
    fields: Mapping[str, int]
    units: Mapping[str, str]
    stamp: tuple[int, int] | None

    def cells(self) -> list[pl.Expr]:
        """Return the fields of split lines as columns."""
        return [
            pl.col("cells").list.get(index, null_on_oob=True).alias(name)
            for name, index in self.fields.items()
        ]


def is_names(line: str) -> bool:
    """Return whether a line is the first of a header."""
    return _NAMES.match(line) is not None


def layout_of(names: str, units: str | None) -> DmonLayout:
    """Return what a header says.

    Args:
        names: Its first line.
        units: The second one, where it follows.
    """
    columns = [name.lower() for name in _words(names)]
    given = _words(units) if units else []
    told = given if len(given) == len(columns) else [""] * len(columns)
    fields: dict[str, int] = {}
    unit_of: dict[str, str] = {}
    for index, (column, unit) in enumerate(zip(columns, told, strict=True)):
        if column in _COLUMNS and _COLUMNS[column][0] not in fields:
            name, usual = _COLUMNS[column]
            fields[name] = index
            unit_of[name] = (unit or usual) if measures([name]) else ""
    is_stamped = "date" in columns and "time" in columns
    stamp = (columns.index("date"), columns.index("time")) if is_stamped else None
    return DmonLayout(len(columns), fields, unit_of, stamp)


def _words(line: str) -> list[str]:
    return line.lstrip("#").replace(",", " ").split()
