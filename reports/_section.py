"""What a section of the page is: a question, and the content that answers it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from analysis import Frames
from ingest.tables import Table
from reports import _sql
from reports.dollars import Price, price_of
from reports.provenance import Baseline, Provenance

#: Chart as Vega-Lite reads it.
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page is about: its runs, their prices and where it comes from."""

    prices: Mapping[str, Price]
    provenance: Provenance
    baseline: Baseline | None = None

    def price(self, run_id: str) -> Price:
        """Return the price of a run."""
        return price_of(self.prices, run_id)

    def of_runs(self, frame: pl.LazyFrame, *, or_none: bool = False) -> pl.LazyFrame:
        """Return the rows of the runs on the page.

        Args:
            frame: Rows with a `run_id`.
            or_none: Whether rows that belong to no run are kept, too.
        """
        if not self.provenance.run_ids:
            return frame
        among = pl.col("run_id").is_in(self.provenance.run_ids)
        return frame.filter(among | pl.col("run_id").is_null() if or_none else among)

    def sql(self, *, or_none: bool = False) -> str:
        """Return the condition of the same rows in SQL."""
        return _sql.of_runs(self.provenance.run_ids, or_none=or_none)


@dataclass(frozen=True, slots=True)
class About:
    """What is said under a drawing, whatever the data.

    Attributes:
        definition: What the numbers mean.
        source: Where that definition comes from.
        blind_spots: What it cannot show.
    """

    definition: str
    source: str
    blind_spots: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing and everything that is said under it.

    Attributes:
        name: Name of the chart, unique on the page, in lower case and dashes.
        title: What it shows, with its unit.
        summary: What one sees in it, for those who cannot.
        spec: The drawing.
        numbers: Exactly what `sql` gives.
        sql: Query over the lake's views that gives the drawn numbers.
        about: What is said under it.
        sample: Ranks, steps and span that were measured.
        legend: Colour of each part, where bars do not carry their names.
    """

    name: str
    title: str
    summary: str
    spec: Spec
    numbers: pl.DataFrame
    sql: str
    about: About
    sample: str
    legend: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a listing; numbers stand to the right.

    Attributes:
        title: What stands over it.
        meaning: What that means.
        is_number: Whether its cells are numbers.
        is_held: Whether its cells are parted at line breaks of their own alone.
    """

    title: str
    meaning: str = ""
    is_number: bool = False
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to a section."""

    text: str
    section: str


Cell = str | Link


@dataclass(frozen=True, slots=True)
class Listing:
    """A table of at most ten rows; the rest is a query away."""

    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    total: tuple[Cell, ...] = ()
    more: str = ""
    sql: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that stands for itself, with the colour of its meaning."""

    value: str
    label: str
    meaning: str
    note: str
    definition: str


@dataclass(frozen=True, slots=True)
class Definition:
    """What a word means, and who says so."""

    term: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Notes:
    """Facts in two columns, folded under a title."""

    title: str
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Content:
    """What a section says.

    Attributes:
        heading: The finding in words, with the number in it.
        figures: Numbers that stand for themselves.
        paragraphs: Sentences below the heading.
        charts: At most three.
        listings: Tables of at most ten rows.
        definitions: Words with their meaning.
        notes: Facts, folded.
        empty: What file would fill the section; None where it is filled.
    """

    heading: str
    figures: Sequence[Figure] = ()
    paragraphs: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    listings: Sequence[Listing] = ()
    definitions: Sequence[Definition] = ()
    notes: Sequence[Notes] = ()
    empty: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A question of the page.

    Attributes:
        name: Name of the section, that of its file.
        title: The question in two or three words.
        inputs: Tables it reads.
        build: The answer; collects its frames, draws, prices.
    """

    name: str
    title: str
    inputs: tuple[type[Table], ...]
    build: Callable[[Frames, Scope], Content] = field(repr=False)
