"""Work on GPUs, from events to columns."""

from itertools import compress
from typing import Final

import polars as pl

from ingest.communication import communication_names
from ingest.sources._kineto.blocks import Block
from ingest.sources._kineto.columns import (
    collective_columns,
    external_ids,
    integers,
    number_text,
    times,
)
from ingest.sources._kineto.events import (
    CollectiveArgs,
    GpuArgs,
    decode_args,
    decode_places,
)
from ingest.sources._kineto.kinds import COPY_KIND

#: Categories of work, by their numbers in the frames.
CATEGORIES: Final = ("compute", "communication", "memory")
_COMPUTE, _COMMUNICATION, _MEMORY = range(3)


#: Copies of Meta's MTIA, which have one category with its kernels.
_MTIA_COPY: Final = "dma_request"


class _Names(dict[str, int]):
    """Numbers of the names met so far, and the category of a kernel of each."""

    def __init__(self) -> None:
        super().__init__()
        self.categories = bytearray()
        self._communicating = communication_names()

    def __missing__(self, name: str) -> int:
        self.categories.append(self._category(name))
        self[name] = len(self)
        return self[name]

    def _category(self, name: str) -> int:
        if name == _MTIA_COPY:
            return _MEMORY
        return _COMMUNICATION if self._communicating.search(name) else _COMPUTE


class Work:
    """Work on GPUs."""

    def __init__(self) -> None:
        """Begin with none."""
        self._events: list[int] = []
        self._names = _Names()
        self._codes: list[int] = []
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
        codes = [self._names[event.name] for event in events]
        categories = self._judge(kinds, codes, args)
        if _COMMUNICATION in categories:
            talking = [one == _COMMUNICATION for one in categories]
            raws = [event.args for event in compress(events, talking)]
            self._collectives += decode_args(raws, CollectiveArgs)
        self._events += [first + place for place in places]
        self._codes += codes
        self._categories += categories
        self._starts.append(number_text([event.ts for event in events]))
        self._durations.append(number_text([event.dur for event in events]))
        self._args += args

    def _judge(self, kinds: bytes, codes: list[int], args: list[GpuArgs]) -> bytes:
        """Return the category of each event: by its arguments, else by its name."""
        of_name = self._names.categories
        told = [one.collective for one in args]
        return bytes(
            [
                _MEMORY
                if kind == COPY_KIND
                else _COMMUNICATION
                if one
                else of_name[code]
                for kind, one, code in zip(kinds, told, codes, strict=True)
            ]
        )

    def take(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the work, and what tells the collectives among it."""
        names = pl.Series(list(self._names), dtype=pl.String)
        work = pl.DataFrame(
            {
                "event": pl.Series(self._events, dtype=pl.Int64),
                "name": names.gather(self._codes),
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
