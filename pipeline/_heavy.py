"""Rows of tables as analyses see them: what stands for those of heavy owners."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from analysis import ANALYSES, Analysis, Frames, Rollup
from ingest import reading
from ingest._schema import FILE_ID, schema_of
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table
from pipeline._owners import ByDay, heavy_owners, sole_owner, traced_files


@dataclass(frozen=True, slots=True)
class Heavy:
    """Owners whose raw rows of a table are condensed by day.

    Attributes:
        table: Table of raw rows.
        column: Column by which they belong to an owner.
        owners: The owners.
        rollups: What is kept of their days.
    """

    table: type[Table]
    column: str
    owners: frozenset[str]
    rollups: tuple[Rollup, ...]

    def light_parts(self, lake: Snapshot) -> list[Part]:
        """Return the parts that have rows of other owners, or of traces."""
        traced = traced_files(lake, self.table)
        return [
            part
            for part in lake.parts(self.table)
            if sole_owner(part, self.column) not in self.owners
            or not traced.isdisjoint(part.file_ids)
        ]

    def stand_in_parts(self, lake: Snapshot) -> list[Part]:
        """Return the parts that tell what stands for the rows of the owners."""
        tables = [t for one in self.rollups if one.stand_in for t in one.outputs]
        return [part for table in tables for part in lake.parts(table)]

    def frame(self, lake: Snapshot) -> pl.LazyFrame:
        """Return the rows of other owners, and what stands for those of these."""
        rows = reading.scan(lake, self.table, self.light_parts(lake))
        is_other = ~pl.col(self.column).is_in(sorted(self.owners))
        traced = traced_files(lake, self.table)
        if traced:
            is_other |= pl.col(FILE_ID).is_in(sorted(traced))
        frames = [rows.filter(is_other)]
        for one in self.rollups:
            if one.stand_in:
                told = Frames({table: lake.scan(table) for table in one.outputs})
                frames.append(one.stand_in(told).select(schema_of(self.table).names()))
        return pl.concat(frames)


def heavy_of(
    lake: Snapshot, analyses: Sequence[Analysis | Rollup], by_day: ByDay
) -> dict[type[Table], Heavy]:
    """Return the owners whose days are condensed, by table of raw rows.

    Args:
        lake: The lake.
        analyses: Analyses and rollups.
        by_day: From how many rows. Where raw rows of a day are gone for good, whose
            days they were does not matter: no analysis can go the other way.
    """
    found: dict[type[Table], Heavy] = {}
    for table, rollups in _by_source(analyses).items():
        column = rollups[0].owner
        owners = heavy_owners(lake, table, column, by_day)
        owners |= retired_owners(lake, table, rollups)
        if owners:
            found[table] = Heavy(table, column, owners, rollups)
    return found


def heavy_as_rolled(lake: Snapshot) -> dict[type[Table], Heavy]:
    """Return the owners whose days a lake has condensed, by table of raw rows."""
    return {
        table: Heavy(table, rollups[0].owner, owners, rollups)
        for table, rollups in _by_source(ANALYSES).items()
        if (owners := frozenset(str(p.owner) for p in _rolled(lake, rollups)))
    }


def rows_of(
    lake: Snapshot, table: type[Table], heavy: Mapping[type[Table], Heavy]
) -> pl.LazyFrame:
    """Return the rows of a table as analyses see them."""
    if table in heavy:
        return heavy[table].frame(lake)
    return lake.held(table)


def _by_source(
    analyses: Iterable[Analysis | Rollup],
) -> dict[type[Table], tuple[Rollup, ...]]:
    found: dict[type[Table], tuple[Rollup, ...]] = {}
    for one in analyses:
        if isinstance(one, Rollup):
            found[one.source] = (*found.get(one.source, ()), one)
    return found


def retired_owners(
    lake: Snapshot, table: type[Table], rollups: Iterable[Rollup]
) -> frozenset[str]:
    """Return the owners that have rollups of days whose raw rows are gone for good."""
    days = {day for name, day in lake.manifest.retired_days if name == table.sql_name()}
    return frozenset(str(p.owner) for p in _rolled(lake, rollups) if p.day in days)


def _rolled(lake: Snapshot, rollups: Iterable[Rollup]) -> list[Part]:
    return [
        part
        for rollup in rollups
        for table in rollup.outputs
        for part in lake.parts(table)
        if part.kind == "rollup"
    ]
