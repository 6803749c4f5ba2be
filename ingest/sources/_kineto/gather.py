"""Take from the blocks of a trace what rows are made of."""

from itertools import compress
from typing import Final

from ingest.sources._kineto.blocks import Block
from ingest.sources._kineto.host import Host, Launches
from ingest.sources._kineto.kinds import (
    COPY_KIND,
    HOST_KIND,
    KERNEL_KIND,
    LAUNCH_KIND,
    WINDOW_KIND,
    selector,
)
from ingest.sources._kineto.spool import Spool
from ingest.sources._kineto.work import Work

_IS_WORK: Final = selector(KERNEL_KIND, COPY_KIND)
_IS_LAUNCH: Final = selector(LAUNCH_KIND)
_IS_HOST: Final = selector(HOST_KIND)
_IS_WINDOW: Final = selector(WINDOW_KIND)

#: Rows that make a frame: enough that what a frame costs does not count. [1]
WORK_ROWS: Final = 1 << 14
LAUNCH_ROWS: Final = 1 << 15


class Gathering:
    """What has been taken from a trace so far.

    Attributes:
        records: Events seen, of any kind. [1]
        work: Frames of work on GPUs.
        collectives: Frames of what tells collectives among it, one to each of `work`.
        launches: Frames of calls that may have launched it.
        host: What else the host did.
    """

    def __init__(self, work: Spool, collectives: Spool, launches: Spool) -> None:
        """Begin with empty spools."""
        self.records = 0
        self.work, self.collectives, self.launches = work, collectives, launches
        self.host = Host()
        self._work = Work()
        self._launches = Launches()

    def add(self, block: Block) -> None:
        """Take what matters of a block."""
        events, first = block.events, self.records
        numbers = range(first, first + len(events))
        marks = bytes([event.cat.kind for event in events])
        chosen = marks.translate(_IS_WORK)
        if any(chosen):
            places = list(compress(range(len(events)), chosen))
            self._work.add(block, places, bytes(compress(marks, chosen)), first)
        self._launches.add(list(compress(events, marks.translate(_IS_LAUNCH))))
        chosen = marks.translate(_IS_HOST)
        self.host.add_operations(compress(numbers, chosen), compress(events, chosen))
        self.host.add_windows(compress(events, marks.translate(_IS_WINDOW)))
        self.records += len(events)
        if len(self._work) >= WORK_ROWS or len(self._launches) >= LAUNCH_ROWS:
            self.spool()

    def spool(self) -> None:
        """Put what waits into frames."""
        if len(self._work):
            work, collectives = self._work.take()
            self._work = Work()
            self.work.add(work)
            self.collectives.add(collectives)
        if len(self._launches):
            self.launches.add(self._launches.take())
            self._launches = Launches()
