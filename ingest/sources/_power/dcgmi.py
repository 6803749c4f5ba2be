"""The header of `dcgmi dmon`: names and units, each at the start of its column."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from ingest.sources._power.fields import ENERGY, REASONS

#: Fields by the short name that DCGM prints (dcgm_fields.cpp), and the unit they have.
_FIELDS: Final = {
    "POWER": ("power.draw", "W"),
    "POWINST": ("power.draw.instant", "W"),
    "PMLMT": ("power.limit", "W"),
    "TOTEC": (ENERGY, "mJ"),
    "TMPTR": ("temperature.gpu", "C"),
    "MMTMP": ("temperature.memory", "C"),
    "SMCLK": ("clocks.current.sm", "MHz"),
    "GPUTL": ("utilization.gpu", "%"),
    "DVCCTR": (f"{REASONS}.active", ""),
    "PVIOL": (f"{REASONS}_counters.sw_power_cap", "ns"),
    "TVIOL": (f"{REASONS}_counters.sw_thermal_slowdown", "ns"),
}

_NAMES: Final = re.compile(r"#(\s?)Entity\s+(?=\S)(.*)")

#: Columns of what stands from the first value's place on, of all words behind the
#: entity, and whether all values stand below their names.
REST: Final = "rest"
WORDS: Final = "words"
IS_PLACED: Final = "is_placed"


@dataclass(frozen=True, slots=True)
class DcgmiLayout:
    """Where the columns of a line are.

    Attributes:
        width: Values of a line, without its entity. [1]
        fields: Number of the column of each field that is read, by name.
        entity: Length of the column of the entity; 0 where it says nothing. [1]
        starts: Where each other column starts, from the first of them on, and the end
            of the last; empty where values are not below the start of their name.
    """

    width: int
    fields: Mapping[str, int]
    entity: int
    starts: tuple[int, ...]

    @property
    def units(self) -> dict[str, str]:
        """The unit of each field, by name."""
        return {name: _UNITS[name] for name in self.fields}

    def cells(self) -> list[pl.Expr]:
        """Return the fields of lines as columns; null where one is empty.

        Cells are cut by their place only where each starts below its name, and so does
        the first: other lines were written anew, with one blank between cells, and are
        split at blanks. No cell is ever cut in two.
        """
        return [
            pl.when(IS_PLACED)
            .then(self._below(number))
            .otherwise(pl.col(WORDS).list.get(number, null_on_oob=True))
            .alias(name)
            for name, number in self.fields.items()
        ]

    def is_placed(self, text: pl.Expr) -> pl.Expr:
        """Return whether all cells of lines are below their names.

        Args:
            text: The entity, and what stands behind it.
        """
        if not self.starts:
            return pl.lit(value=False)
        widths = [after - begin for begin, after in pairwise(self.starts[:-1])]
        cells = "".join(rf"(?:\S.{{{width - 2}}}\s|\s{{{width}}})" for width in widths)
        placed = text.str.pad_end(self.entity + self.starts[-2], " ")
        first = placed.str.slice(0, self.entity).str.contains(r"^\S+\s\S+\s+$")
        return first & placed.str.slice(self.entity).str.contains(rf"^{cells}\S*\s*$")

    def is_ragged(self) -> pl.Expr:
        """Return whether nothing tells which values a line has."""
        return ~pl.col(IS_PLACED) & (pl.col(WORDS).list.len() != self.width)

    def _below(self, number: int) -> pl.Expr:
        if not self.starts:
            return pl.lit(None, pl.String)
        begin = self.starts[number]
        length = self.starts[number + 1] - begin
        text = pl.col(REST).str.slice(begin, length).str.strip_chars()
        return pl.when(text != "").then(text)


_UNITS: Final = dict(_FIELDS.values())


def layout_of(line: str) -> DcgmiLayout | None:
    """Return what the first line of a header says; None where it is none."""
    match = _NAMES.search(line)
    if not match:
        return None
    found = list(re.finditer(r"\S+", match[2]))
    fields = {
        _FIELDS[one[0]][0]: number
        for number, one in enumerate(found)
        if one[0] in _FIELDS
    }
    # from version 2 on values start below the start of their name
    is_left = not match[1]
    starts = tuple(one.start() for one in found) if is_left else ()
    end = (starts[-1] + 1_000,) if starts else ()
    entity = match.start(2) - match.start() if is_left else 0
    return DcgmiLayout(len(found), fields, entity, (*starts, *end))
