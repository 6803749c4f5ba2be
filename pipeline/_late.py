"""Rows that come for days whose raw rows are gone: whose of them nothing will tell."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from analysis import Rollup
from ingest.lake import Snapshot
from ingest.manifest import Part
from ingest.tables import Table
from pipeline import covering
from pipeline._owners import traced_files


@dataclass(slots=True)
class Lost:
    """Days of runs and clusters that are neither raw nor in a rollup.

    Attributes:
        days: The days, by table of raw rows and owner.
    """

    days: dict[tuple[type[Table], str], set[str]] = field(default_factory=dict)

    def see(self, lake: Snapshot, parts: Sequence[Part]) -> None:
        """Look at parts that are about to come.

        Args:
            lake: The lake before they do.
            parts: Parts that were staged.
        """
        gone = lake.manifest.retired_days
        late = [part for part in parts if (part.table, part.day) in gone]
        if not late:
            return
        for table, rollups in covering.sources().items():
            mine = [part for part in late if part.table == table.sql_name()]
            traced = traced_files(lake, table, parts)
            for day in sorted({str(part.day) for part in mine}):
                of_day = [part for part in mine if part.day == day]
                whose = covering.owners_in(lake, table, of_day, traced)
                for owner in whose - _rolled(lake, rollups, day):
                    self.days.setdefault((table, owner), set()).add(day)

    def lines(self) -> Iterator[str]:
        """Yield a line for each run and cluster of which something is lost."""
        for (table, owner), days in self.days.items():
            kind = covering.sources()[table][0].owner.removesuffix("_id")
            span = f"{min(days)} to {max(days)}" if len(days) > 1 else min(days)
            count = f"{len(days)} day{'s' * (len(days) > 1)}"
            yield (
                f"{kind} {owner!r}: its {table.sql_name()} of {count} ({span}) came"
                " after raw rows of such days had been retired; they were not kept, and"
                " no rollup has them: ingest its files into another lake (--lake)"
            )


def _rolled(lake: Snapshot, rollups: Iterable[Rollup], day: str) -> frozenset[str]:
    """Return the owners of which all rollups have a day."""
    found = [
        {str(part.owner) for part in lake.parts(output) if part.day == day}
        for rollup in rollups
        for output in rollup.outputs
    ]
    return frozenset(set.intersection(*found))
