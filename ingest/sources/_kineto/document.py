"""A trace's file from its first byte to its last."""

from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._kineto.blocks import Block, Blocks
from ingest.sources._kineto.envelope import find_events, open_document, read_tail
from ingest.sources._kineto.facts import Facts
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.window import Window

#: First byte of a trace: an object around a list of events.
_OBJECT: Final = b"{"


class Document:
    """A trace's file: an object that holds a list of events, or such a list.

    Attributes:
        opening: The first byte that is no white space, empty where there is none.
        facts: What the trace told of itself so far.
    """

    def __init__(self, stream: BinaryIO, losses: Losses) -> None:
        """Open a stream before its first byte."""
        self._window = Window(stream)
        self._losses = losses
        self.opening = open_document(self._window)
        self.facts = Facts()

    def blocks(self) -> Iterator[Block]:
        """Yield all events. A block is void once the next one is asked for."""
        window, losses = self._window, self._losses
        in_object = self.opening == _OBJECT
        if in_object:
            self.facts, has_events = find_events(window, losses)
            if not has_events:
                return
        else:
            window.start += 1
        blocks = Blocks(window, losses, in_object=in_object)
        yield from blocks
        if blocks.closed:
            self.facts = self.facts.updated(
                read_tail(window, losses, in_object=in_object)
            )
