"""Metrics that a log of torchtitan carries: tokens of a step, loss, gradient norm."""

from typing import Final

from ingest.sources._lines_json import Record
from ingest.sources._steps.events import Event
from ingest.sources._steps.found import Found, Row
from ingest.sources._steps.spans import Spans
from ingest.tables import StepTimings, TrainingMetrics

#: Name of a record that carries a metric.
METRIC: Final = "metric_value"

_TOKENS: Final = "local_valid_tokens"
_COLUMN_OF_METRIC: Final = {
    "loss": TrainingMetrics.loss.name,
    "train.loss": TrainingMetrics.loss.name,
    "grad_norm": TrainingMetrics.grad_norm.name,
    "train.grad_norm": TrainingMetrics.grad_norm.name,
}

#: Rank whose loss and gradient norm are kept: the table has one row per step.
_RANK: Final = 0

#: Tokens that an Int64 and a float hold exactly.
_MOST_TOKENS: Final = 2**53


class Metrics:
    """The metrics of the step that is being logged."""

    def __init__(self, found: Found) -> None:
        """Start with none."""
        self._found = found
        self._pending: dict[str | None, tuple[Record[Event], Row]] = {}

    def take(self, record: Record[Event], spans: Spans) -> None:
        """Take the next metric."""
        event = record.value
        column = _COLUMN_OF_METRIC.get(event.event_name or "")
        if event.event_name == _TOKENS:
            self._take_tokens(record, spans)
        elif column and event.process[0] == _RANK:
            self._take_metric(column, record)

    def close(self) -> None:
        """Complete the rows that no later step completed."""
        for record, row in self._pending.values():
            self._found.add(TrainingMetrics, record, row)
        self._pending.clear()

    def _take_tokens(self, record: Record[Event], spans: Spans) -> None:
        tokens = record.value.number()
        step = spans.step_of(record.value)
        if tokens is None or not tokens.is_integer() or not 0 <= tokens < _MOST_TOKENS:
            self._found.refuse(StepTimings, record, "tokens|integer")
        elif step:
            step.tokens = int(tokens)

    def _take_metric(self, column: str, record: Record[Event]) -> None:
        event = record.value
        number = event.number()
        if number is None or event.step is None:
            rule = f"{column}|number" if number is None else "step|required"
            self._found.refuse(TrainingMetrics, record, rule)
            return
        pending = self._pending.get(event.source)
        if pending is None or pending[1][TrainingMetrics.step.name] != event.step:
            if pending:
                self._found.add(TrainingMetrics, *pending)
            pending = (record, _empty(event))
            self._pending[event.source] = pending
        pending[1][column] = number


def _empty(event: Event) -> Row:
    return {
        TrainingMetrics.step.name: event.step,
        TrainingMetrics.time_ns.name: event.time_ns,
        TrainingMetrics.loss.name: None,
        TrainingMetrics.grad_norm.name: None,
    }
