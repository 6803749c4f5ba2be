"""Synthetic histories put through the product, and the truth that was put in."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import QUESTIONS
from analysis._analysis import Frames
from ingest.synthetic.history import DATA, TRUTH, write_history
from ingest.tables import Table
from pipeline import querying
from pipeline.cli import run_tokens

#: A history of a few days on a few nodes, with as many stops as fit.
SMALL: dict[str, Any] = {
    "days": 3,
    "nodes": 8,
    "spare_nodes": 1,
    "unexpected": 30,
    "planned": 4,
}


@dataclass(frozen=True)
class Told:
    """What the product tells of a history, by table, and the truth."""

    tables: dict[type[Table], pl.DataFrame]
    truth: dict[str, Any]
    lake: Path

    def __getitem__(self, table: type[Table]) -> pl.DataFrame:
        """Rows of a table."""
        return self.tables[table]


def needed(outputs: Iterable[type[Table]]) -> list[Any]:
    """Analyses that fill some tables, and those that they read, in their order."""
    wanted, found = set(outputs), []
    for one in reversed(QUESTIONS):
        if wanted & set(one.outputs):
            wanted |= set(one.inputs)
            found.append(one)
    return found[::-1]


def view(table: type[Table]) -> str:
    """The name of the view of a table."""
    letters = [f"_{c.lower()}" if c.isupper() else c for c in table.__name__]
    return "".join(letters).lstrip("_")


def read(lake: Path, table: type[Table]) -> pl.DataFrame:
    """All rows of a table of a lake."""
    columns = ", ".join(table.column_names())
    rows = querying.rows_of(lake, f"SELECT {columns} FROM {view(table)}")
    return rows.cast(table.create_empty().schema)


def analysed(folder: Path, outputs: Iterable[type[Table]], **changed: Any) -> Told:
    """Write a small history, ingest it, and fill some tables without a lake."""
    write_history(folder, 7, **(SMALL | changed))
    lake = folder / "lake"
    told = ["ingest", str(folder / DATA), "--lake", str(lake), "--quiet"]
    assert run_tokens(told) == 0
    steps = needed(outputs)
    made = {table for one in steps for table in one.outputs}
    raw = {table for one in steps for table in one.inputs} - made
    tables = {table: read(lake, table) for table in raw}
    for one in steps:
        lazy = {table: frame.lazy() for table, frame in tables.items()}
        tables |= one.compute(Frames(lazy), one.thresholds)
    return Told(tables, json.loads((folder / TRUTH).read_text()), lake)


def whole(folder: Path, outputs: Iterable[type[Table]]) -> Told:
    """Write the history of 54 days, and put it through the main job."""
    write_history(folder, 1)
    lake = folder / "lake"
    told = ["run", str(folder / DATA), "--lake", str(lake), "--quiet"]
    assert run_tokens([*told, "--report", str(folder / "report.html")]) == 0
    tables = {table: read(lake, table) for table in outputs}
    return Told(tables, json.loads((folder / TRUTH).read_text()), lake)
