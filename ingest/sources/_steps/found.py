"""What a log of torchtitan has given since it was last asked."""

from collections import defaultdict
from collections.abc import Mapping

import polars as pl

from ingest.sources._lines import refuse
from ingest.sources._lines_json import Record
from ingest.sources._source import Batch, Refusal
from ingest.sources._steps.events import Event
from ingest.tables import Checkpoints, StepTimings, Table, Timers

Row = dict[str, object]


class Found:
    """Rows, refusals and repairs that are not yet in a batch."""

    def __init__(self, run_id: str) -> None:
        """Start with nothing; every row is of the run."""
        self._run_id = run_id
        self._rows: dict[type[Table], list[Row]] = defaultdict(list)
        self._refused: list[Refusal] = []
        self._repairs = 0

    def refuse(self, table: type[Table], record: Record[Event], rule: str) -> None:
        """Keep a record that cannot become a row."""
        self._refused.append(refuse(table, record.number, rule, record.line))

    def keep(self, refused: list[Refusal]) -> None:
        """Keep lines that are no records."""
        self._refused += refused

    def add(self, table: type[Table], record: Record[Event], row: Row) -> None:
        """Keep a row that a record completed; rows of a table have the same columns."""
        known: Row = {"run_id": self._run_id, "place": f"line {record.number}"}
        self._rows[table].append(known | row)

    def add_step(
        self,
        start: Event,
        end: Record[Event],
        duration_ns: int,
        parts: Mapping[str, int],
        tokens: int | None,
    ) -> None:
        """Keep a step that has ended.

        Parts that are longer than their step were not measured by one clock, so they
        are left out, which counts as a repair.
        """
        possible = sum(parts.values()) <= duration_ns
        self._repairs += not possible
        row: Row = {
            StepTimings.step.name: end.value.step if start.step is None else start.step,
            StepTimings.rank.name: start.process[0],
            StepTimings.start_ns.name: start.time_ns,
            StepTimings.duration_ns.name: duration_ns,
            StepTimings.clock.name: "host",
            StepTimings.scope.name: "rank",
            StepTimings.step_count.name: 1,
            StepTimings.tokens.name: tokens,
        }
        for part in (StepTimings.data_ns.name, StepTimings.checkpoint_ns.name):
            row[part] = parts.get(part) if possible else None
        self.add(StepTimings, end, row)

    def add_checkpoint(
        self, kind: str, start: Event, end: Record[Event], duration_ns: int
    ) -> None:
        """Keep a save or load; the rank did nothing else in that time."""
        row: Row = {
            Checkpoints.rank.name: start.process[0],
            Checkpoints.kind.name: kind,
            Checkpoints.step.name: start.step,
            Checkpoints.start_ns.name: start.time_ns,
            Checkpoints.duration_ns.name: duration_ns,
            Checkpoints.stall_ns.name: duration_ns,
        }
        self.add(Checkpoints, end, row)

    def add_timer(
        self, name: str, start: Event, end: Record[Event], duration_ns: int
    ) -> None:
        """Keep a span of its own; it was logged when it ended."""
        row: Row = {
            Timers.step.name: start.step,
            Timers.time_ns.name: end.value.time_ns,
            Timers.name.name: name,
            Timers.statistic.name: "rank",
            Timers.rank.name: start.process[0],
            Timers.duration_ns.name: duration_ns,
        }
        self.add(Timers, end, row)

    def take(self, records: int, repairs: int) -> Batch:
        """Return what was kept as a batch, and start again with nothing."""
        batch = Batch(
            rows={table: _frame(table, rows) for table, rows in self._rows.items()},
            refused=tuple(self._refused),
            records=records,
            repairs=self._repairs + repairs,
        )
        self._rows, self._refused, self._repairs = defaultdict(list), [], 0
        return batch


def _frame(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    types = {**pl.Schema(table), "place": pl.String()}
    frame = pl.DataFrame(rows, schema={name: types[name] for name in rows[0]})
    if table is not Timers:
        return frame
    nth = pl.int_range(pl.len(), dtype=pl.Int32).over("step", "rank", "name", "time_ns")
    return frame.with_columns(occurrence=nth)
