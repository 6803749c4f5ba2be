"""The header of `dcgmi dmon`: names and units, each at the start of its column."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
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

#: Column of what stands behind the entity, up to the end of the line, and of its words.
REST: Final = "rest"
WORDS: Final = "words"


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

        A line with all values is split at blanks. In one without some of them only its
        place tells what a value is of.
        """
        is_full = pl.col(WORDS).list.len() == self.width
        return [
            pl.when(is_full)
            .then(pl.col(WORDS).list.get(number, null_on_oob=True))
            .otherwise(self._below(number))
            .alias(name)
            for name, number in self.fields.items()
        ]

    def is_ragged(self) -> pl.Expr:
        """Return whether nothing tells which values a line has."""
        words = pl.col(WORDS).list.len()
        if self.starts:
            return words > self.width
        return words != self.width

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
