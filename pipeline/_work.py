"""What an analysis of the lake has filled so far, and what it reads."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

import polars as pl

from analysis import Analysis, Results
from ingest import _scans, staging
from ingest._schema import schema_of
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table
from pipeline._given import GivenDay
from pipeline._heavy import Heavy, rows_of

#: Runs whose rows are filled; None where all are.
Scope = frozenset[str] | None

#: Column by which rows belong to a run.
RUN: Final = "run_id"

#: Most rows of a result in portions that are held rather than read at every use. [1]
HELD_ROWS: Final = 200_000


@dataclass(slots=True)
class Work:
    """Results of this analysis of the lake, by table, before they are committed."""

    before: Snapshot
    root: Path
    scope: Scope
    parts: dict[type[Table], list[Part]] = field(default_factory=dict)
    frames: dict[type[Table], pl.LazyFrame] = field(default_factory=dict)
    masked: Collection[str] = ()
    heavy: Mapping[type[Table], Heavy] = field(default_factory=dict)
    given: Sequence[GivenDay] = ()

    def parts_of(self, table: type[Table]) -> list[Part]:
        """Return the parts that a table has now."""
        return self.parts.get(table) or list(self.before.parts(table))

    def read_parts(self, table: type[Table]) -> list[Part]:
        """Return the parts that `frame_of` reads a table from."""
        heavy = self.heavy.get(table)
        if heavy is None:
            return self.parts_of(table)
        before = self.before
        return [*heavy.light_parts(before), *heavy.stand_in_parts(before)]

    def frame_of(self, table: type[Table]) -> pl.LazyFrame:
        """Return the rows that a table has now; a small one is read once."""
        if table not in self.frames:
            self.frames[table] = rows_of(self.before, table, self.heavy)
        return self.frames[table]

    def see(self, lake: Snapshot, tables: Iterable[type[Table]]) -> None:
        """Go on with the lake as it is after a commit to some tables."""
        self.before = lake
        for table in {*tables, *self.heavy}:
            self.frames.pop(table, None)

    def is_in_scope(self, column: str, owner: str) -> bool:
        """Tell whether an owner's rows are filled: any cluster's, of runs those."""
        return self.scope is None or column != RUN or owner in self.scope

    def may_find(self, analysis: Analysis) -> bool:
        """Tell whether a table has rows that an analysis cannot do without."""
        needs = analysis.needs or analysis.inputs
        return any(part.rows for table in needs for part in self.read_parts(table))

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

    def keep_portions(
        self, tables: Sequence[type[Table]], portions: Iterable[Results], key: str
    ) -> None:
        """Write the rows of long results, a portion at a time.

        Args:
            tables: The tables of the results.
            portions: What an analysis finds, a portion after the other.
            key: Hash of all that it is computed from.
        """
        written: dict[type[Table], list[Part]] = {table: [] for table in tables}
        for results in chain(self._of_others(tables), map(self._of_mine, portions)):
            for table, rows in results.items():
                if rows.height:
                    written[table] += self._write(table, rows, key)
        for table, parts in written.items():
            known = parts or self._write(table, table.create_empty(), key)
            frame = _scans.scan(self.root, known, table)
            is_long = sum(part.rows for part in known) > HELD_ROWS
            self.frames[table] = frame if is_long else frame.collect().lazy()
            self.parts[table] = known

    def _write(self, table: type[Table], rows: pl.DataFrame, key: str) -> list[Part]:
        valid = _valid(table, rows)
        return staging.write_parts(
            self.root, table, valid, kind="result", result_key=key
        )

    def _of_mine(self, results: Results) -> Results:
        """Rows of runs in scope; all without one."""
        if self.scope is None:
            return results
        return {
            table: rows.filter(pl.col(RUN).is_in(sorted(self.scope)))
            for table, rows in results.items()
        }

    def _of_others(self, tables: Sequence[type[Table]]) -> Iterator[Results]:
        """Rows of runs that are not in scope, a part of the lake at a time."""
        if self.scope is None:
            return
        mine = pl.col(RUN).is_in(sorted(self.scope)).fill_null(value=False)
        for table in tables:
            for part in self.before.parts(table):
                rows = _scans.scan(self.root, [part], table)
                yield {table: rows.filter(~mine).collect()}

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
