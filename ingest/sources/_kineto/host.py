"""What the host did: launches, steps, collectives that it asked for, and profiling."""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

import polars as pl

from ingest.sources._kineto.columns import (
    collective_columns,
    external_ids,
    integers,
    number_text,
    times,
)
from ingest.sources._kineto.events import CollectiveArgs, Event, Ids, decode_args

#: Name of the operation that asks for a collective.
_REQUEST: Final = "record_param_comms"

#: Names of steps are from the first of these up to the second. Half of all events are
#: operations: comparing takes half as long as looking at how their names begin.
_STEP: Final = "ProfilerStep"
_STEP_END: Final = "ProfilerSteq"

#: Number of a step in its name.
_STEP_NUMBER: Final = r"^ProfilerStep#?([0-9]{1,18})$"


class Launches:
    """Calls that may have launched work."""

    def __init__(self) -> None:
        """Begin with none."""
        self._starts: list[bytes] = []
        self._ids: list[Ids] = []

    def __len__(self) -> int:
        """Return how many calls wait."""
        return len(self._ids)

    def add(self, events: Sequence[Event]) -> None:
        """Add calls."""
        if events:
            self._starts.append(number_text([event.ts for event in events]))
            self._ids += decode_args([event.args for event in events], Ids)

    def take(self) -> pl.DataFrame:
        """Return `correlation`, `external` and `launch` of the calls. [ns]"""
        calls = pl.DataFrame(
            {
                "correlation": integers([one.correlation for one in self._ids]),
                "external": external_ids(self._ids),
                "launch": times(self._starts),
            }
        )
        return calls.filter(pl.col("launch").is_not_null())


class Host:
    """Steps, collectives that the host asked for, and spans of profiling."""

    def __init__(self) -> None:
        """Begin with none."""
        self._steps: list[tuple[int, str, bytes, bytes]] = []
        self._requests: list[tuple[bytes, bytes]] = []
        self._request_args: list[CollectiveArgs] = []
        self._windows: list[bytes] = []

    def add_operations(self, numbers: Iterable[int], events: Iterable[Event]) -> None:
        """Add the steps and the requests among some operations."""
        operations = list(events)
        matter = [
            event.name == _REQUEST or _STEP <= event.name < _STEP_END
            for event in operations
        ]
        if not any(matter):
            return
        for number, event in compress(zip(numbers, operations, strict=True), matter):
            ts, dur = number_text([event.ts]), number_text([event.dur])
            if event.name.startswith(_STEP):
                self._steps.append((number, event.name, ts, dur))
            elif (args := decode_args([event.args], CollectiveArgs)[0]).collective:
                self._requests.append((ts, dur))
                self._request_args.append(args)

    def add_windows(self, events: Iterable[Event]) -> None:
        """Add spans of profiling."""
        self._windows += [number_text([event.dur]) for event in events]

    def steps(self) -> pl.DataFrame:
        """Return `event`, `step`, `start`, `duration` of the steps, by start. [ns]"""
        frame = pl.DataFrame(
            {
                "event": pl.Series([one[0] for one in self._steps], dtype=pl.Int64),
                "name": pl.Series([one[1] for one in self._steps], dtype=pl.String),
                "start": times([one[2] for one in self._steps]),
                "duration": times([one[3] for one in self._steps]),
            }
        )
        step = pl.col("name").str.extract(_STEP_NUMBER).cast(pl.Int64)
        numbered = frame.with_columns(step=step)
        return numbered.filter(pl.col("step").is_not_null()).sort("start", "event")

    def requests(self) -> pl.DataFrame:
        """Return `start`, `end` [ns] and the arguments of the collectives, by start."""
        start = times([one[0] for one in self._requests])
        end = start + times([one[1] for one in self._requests])
        frame = pl.DataFrame(
            {"start": start, "end": end, **collective_columns(self._request_args)}
        )
        return frame.filter(pl.col("end").is_not_null()).sort("start", "end")

    def longest_window(self) -> int | None:
        """Return the longest span of profiling, null where none is told. [ns]"""
        longest = times(self._windows).max()
        return longest if isinstance(longest, int) else None
