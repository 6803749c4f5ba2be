"""Pair the starts and ends of the spans in a log of torchtitan."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from ingest.sources._lines_json import Record
from ingest.sources._steps.events import Event
from ingest.sources._steps.found import Found
from ingest.tables import Checkpoints, StepTimings, Timers

#: Spans of one name that may be open inside each other; more were never closed.
DEEPEST: Final = 16

#: Shortest span in which a checkpoint can have been written or read. The logger puts a
#: span around every call, also around those after each step that find nothing due and
#: return within microseconds; state of any size takes longer than this. [ns]
SHORTEST_CHECKPOINT_NS: Final = 1_000_000

#: Tag that the logger gives to a step in which a checkpoint is due.
SAVE_TAG: Final = "checkpoint_save"

_STEP: Final = "step"
_FETCH: Final = "fetching_batch"
_SAVE: Final = "checkpoint_save"
_LOAD: Final = "checkpoint_load"
_PART_OF_SPAN: Final = {
    _FETCH: StepTimings.data_ns.name,
    "post_dataloading_process": StepTimings.data_ns.name,
    _SAVE: StepTimings.checkpoint_ns.name,
}
_KIND_OF_SPAN: Final = {_SAVE: "save", _LOAD: "load"}

#: Spans that make rows of timers, which are part of no step's parts.
_TIMERS: Final = frozenset({"gc_collect"})
_NAMES: Final = frozenset({*_PART_OF_SPAN, *_KIND_OF_SPAN, *_TIMERS})


@dataclass(slots=True)
class Span:
    """A span that has started, and of a step what happened in it.

    Attributes:
        start: The record that started it.
        owner: Step that it started in.
        failed: Whether it raised.
        depth: Parts that are open in the step; only the outermost is counted. [1]
        parts: What the step spent on them, by column. [ns]
        tokens: Tokens of the step.
    """

    start: Record[Event]
    owner: "Span | None" = None
    failed: bool = False
    depth: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    tokens: int | None = None


class Spans:
    """The spans of a log that are open."""

    def __init__(self, found: Found) -> None:
        """Start with nothing open."""
        self._found = found
        self._steps: dict[tuple[int | None, str | None], Span] = {}
        self._open: dict[tuple[object, ...], list[Span]] = defaultdict(list)

    def take(self, record: Record[Event]) -> None:
        """Take the next record of a span; others are passed over."""
        name, _, phase = (record.value.log_type_name or "").rpartition("_")
        if name == _STEP:
            self._take_step(phase, record)
        elif name in _NAMES:
            self._take_span(name, phase, record)

    def step_of(self, event: Event) -> Span | None:
        """Return the step that is open where a record was written."""
        return self._steps.get(event.process)

    def close(self) -> None:
        """Refuse what is still open: the log ends in it."""
        for step in self._steps.values():
            self._found.refuse(StepTimings, step.start, "step_without_end")
        for key, stack in self._open.items():
            for span in stack:
                self._lose(str(key[-1]), span)

    def _take_step(self, phase: str, record: Record[Event]) -> None:
        process = record.value.process
        step = self._steps.get(process)
        if phase == "start":
            if step:
                self._found.refuse(StepTimings, step.start, "step_without_end")
            self._steps[process] = Span(record)
        elif phase == "error" and step:
            step.failed = True
        elif phase == "end":
            self._steps.pop(process, None)
            self._end_step(step, record)

    def _end_step(self, step: Span | None, end: Record[Event]) -> None:
        if step is None or not _same_step(step.start.value, end.value):
            if step:
                self._found.refuse(StepTimings, step.start, "step_without_end")
            self._found.refuse(StepTimings, end, "step_without_start")
            return
        start = step.start.value
        duration_ns = end.value.since_ns(start)
        if step.failed:
            self._found.refuse(StepTimings, end, "step_failed")
        elif duration_ns is None:
            self._found.refuse(StepTimings, end, "duration_ns|number")
        else:
            self._found.add_step(start, end, duration_ns, step.parts, step.tokens)

    def _take_span(self, name: str, phase: str, record: Record[Event]) -> None:
        event = record.value
        stack = self._open[*event.process, event.task_name, name]
        if phase == "start":
            owner = None if name in _TIMERS else self._steps.get(event.process)
            if owner:
                owner.depth += 1
            stack.append(Span(record, owner))
            if len(stack) > DEEPEST:
                self._lose(name, stack.pop(0))
        elif phase == "error" and stack:
            stack[-1].failed = True
        elif phase == "end" and stack:
            self._end_span(name, stack.pop(), record, outermost=not stack)
        elif phase == "end":
            self._refuse(name, record, "without_start")

    def _end_span(
        self, name: str, span: Span, end: Record[Event], *, outermost: bool
    ) -> None:
        duration_ns = end.value.since_ns(span.start.value)
        if step := span.owner:
            step.depth -= 1
            # a step whose batch did not come was called off
            step.failed |= span.failed and name == _FETCH
            part = _PART_OF_SPAN.get(name)
            if part and step.depth == 0:
                step.parts[part] = step.parts.get(part, 0) + (duration_ns or 0)
        if name in _KIND_OF_SPAN and outermost:
            self._end_checkpoint(name, span, end, duration_ns)
        elif name in _TIMERS and outermost:
            self._end_timer(name, span, end, duration_ns)

    def _end_checkpoint(
        self, name: str, span: Span, end: Record[Event], duration_ns: int | None
    ) -> None:
        due = name == _SAVE and SAVE_TAG in end.value.tags
        if span.failed:
            self._refuse(name, end, "failed")
        elif duration_ns is None:
            self._found.refuse(Checkpoints, end, "duration_ns|number")
        elif due or duration_ns >= SHORTEST_CHECKPOINT_NS:
            kind, start = _KIND_OF_SPAN[name], span.start.value
            self._found.add_checkpoint(kind, start, end, duration_ns)

    def _end_timer(
        self, name: str, span: Span, end: Record[Event], duration_ns: int | None
    ) -> None:
        if span.failed:
            self._refuse(name, end, "failed")
        elif duration_ns is None:
            self._found.refuse(Timers, end, "duration_ns|number")
        else:
            self._found.add_timer(name, span.start.value, end, duration_ns)

    def _lose(self, name: str, span: Span) -> None:
        self._refuse(name, span.start, "without_end")

    def _refuse(self, name: str, record: Record[Event], what: str) -> None:
        if name in _KIND_OF_SPAN:
            self._found.refuse(Checkpoints, record, f"checkpoint_{what}")
        elif name in _TIMERS:
            self._found.refuse(Timers, record, f"timer_{what}")


def _same_step(start: Event, end: Event) -> bool:
    return start.step is None or end.step is None or start.step == end.step
