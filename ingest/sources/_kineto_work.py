"""Work on GPUs, from events to columns."""

from itertools import compress
from typing import Final

import polars as pl

from ingest.communication import communication_names
from ingest.sources._kineto_blocks import Block
from ingest.sources._kineto_columns import (
    collective_columns,
    external_ids,
    integers,
    number_text,
    times,
)
from ingest.sources._kineto_events import (
    CollectiveArgs,
    GpuArgs,
    decode_args,
    decode_places,
)
from ingest.sources._kineto_kinds import COPY

#: Names of kernels that are remembered: traces have some hundred.
_REMEMBERED: Final = 65_536

#: Categories of work, by their numbers in the frames.
CATEGORIES: Final = ("compute", "communication", "memory")
_COMPUTE, _COMMUNICATION, _MEMORY = range(3)


class _Communicating(dict[str, int]):
    """Category of the kernels of a name; remembers what it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self._names = communication_names()

    def __missing__(self, name: str) -> int:
        category = _COMMUNICATION if self._names.search(name) else _COMPUTE
        if len(self) < _REMEMBERED:
            self[name] = category
        return category


class Work:
    """Work on GPUs since it was last taken."""

    def __init__(self) -> None:
        """Begin with none."""
        self._of = _Communicating()
        self._clear()

    def _clear(self) -> None:
        self._events: list[int] = []
        self._names: list[str] = []
        self._categories = bytearray()
        self._starts: list[bytes] = []
        self._durations: list[bytes] = []
        self._args: list[GpuArgs] = []
        self._collectives: list[CollectiveArgs] = []

    def __len__(self) -> int:
        """Return how many events wait."""
        return len(self._events)

    def add(self, block: Block, places: list[int], kinds: bytes, first: int) -> None:
        """Add the events at some places of a block that begins with event `first`."""
        events = [block.events[place] for place in places]
        args = decode_args([event.args for event in events], GpuArgs)
        _add_places(args, places, block)
        names = [event.name for event in events]
        categories = bytes(
            [
                _MEMORY if kind == COPY else _COMMUNICATION if told else self._of[name]
                for kind, told, name in zip(
                    kinds, [one.collective for one in args], names, strict=True
                )
            ]
        )
        self._events += [first + place for place in places]
        self._names += names
        self._categories += categories
        self._starts.append(number_text([event.ts for event in events]))
        self._durations.append(number_text([event.dur for event in events]))
        self._args += args
        if _COMMUNICATION in categories:
            talking = [one == _COMMUNICATION for one in categories]
            raws = [event.args for event in compress(events, talking)]
            self._collectives += decode_args(raws, CollectiveArgs)

    def take(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the work, and what tells the collectives among it, and forget both."""
        work = pl.DataFrame(
            {
                "event": pl.Series(self._events, dtype=pl.Int64),
                "name": pl.Series(self._names, dtype=pl.String),
                "category": pl.Series(bytes(self._categories), dtype=pl.UInt8),
                "start": times(self._starts),
                "duration": times(self._durations),
                "device": integers([one.device for one in self._args]),
                "stream": integers([one.stream for one in self._args]),
                "correlation": integers([one.correlation for one in self._args]),
                "external": external_ids(self._args),
            }
        )
        talking = work.filter(pl.col("category") == _COMMUNICATION)
        told = collective_columns(self._collectives)
        self._clear()
        return work, pl.DataFrame({"event": talking["event"], **told})


def _add_places(args: list[GpuArgs], places: list[int], block: Block) -> None:
    """Take device and stream from process and thread where arguments lack them."""
    told = [one.device for one in args] + [one.stream for one in args]
    if None not in told:
        return
    ran = decode_places(block.text)
    for one, place in zip(args, places, strict=True):
        if one.device is None:
            one.device = ran[place].pid
        if one.stream is None:
            one.stream = ran[place].tid
