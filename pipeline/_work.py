"""What an analysis of the lake has filled so far, and what it reads."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from analysis import Analysis
from ingest import staging
from ingest._schema import schema_of
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table

#: Runs whose rows are filled; None where all are.
Scope = frozenset[str] | None

#: Column by which rows belong to a run.
RUN: Final = "run_id"


@dataclass(slots=True)
class Work:
    """Results of this analysis of the lake, by table, before they are committed."""

    before: Snapshot
    root: Path
    scope: Scope
    parts: dict[type[Table], list[Part]] = field(default_factory=dict)
    frames: dict[type[Table], pl.LazyFrame] = field(default_factory=dict)
    masked: Collection[str] = ()

    def parts_of(self, table: type[Table]) -> list[Part]:
        """Return the parts that a table has now."""
        return self.parts.get(table) or list(self.before.parts(table))

    def frame_of(self, table: type[Table]) -> pl.LazyFrame:
        """Return the rows that a table has now; a small one is read once."""
        if table not in self.frames:
            self.frames[table] = self.before.held(table)
        return self.frames[table]

    def may_find(self, analysis: Analysis) -> bool:
        """Tell whether a table has rows that an analysis cannot do without."""
        needs = analysis.needs or analysis.inputs
        return any(part.rows for table in needs for part in self.parts_of(table))

    def keep(self, table: type[Table], rows: pl.DataFrame, key: str) -> None:
        """Write the rows of a result, those of other runs as they were.

        Args:
            table: The table of the result.
            rows: What an analysis found.
            key: Hash of all that it was computed from.
        """
        frame = _valid(table, self._joined(table, rows))
        self.frames[table] = frame.lazy()
        self.parts[table] = staging.write_parts(
            self.root, table, frame, kind="result", result_key=key
        )

    def _joined(self, table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of a result: of the runs in scope anew, the others as they were."""
        if self.scope is None:
            return rows
        before = self.before.scan(table).collect()
        if RUN not in table.column_names():
            return before if before.height else rows
        mine = pl.col(RUN).is_in(sorted(self.scope)).fill_null(value=False)
        kept = before.filter(~mine)
        return pl.concat([kept, rows.filter(mine).cast(kept.schema)])


def _valid(table: type[Table], rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows that keep the rules of their table; no rows break none."""
    if rows.is_empty() and rows.schema == schema_of(table):
        return rows
    return table.validate(rows, cast=True)
