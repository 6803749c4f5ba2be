"""Pieces of a day that are made and worked on at once, and come in their order."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

P = TypeVar("P")
T = TypeVar("T")


def in_threads(work: Callable[[P], T], every: Iterator[P], at_once: int) -> Iterator[T]:
    """Yield what comes of pieces, in their order, while the next one is read.

    Args:
        work: Pure: what comes of a piece depends on no other.
        every: The pieces.
        at_once: Pieces that are worked on at the same time. [1]
    """
    with ThreadPoolExecutor(at_once) as threads:
        waiting: deque[Future[T]] = deque()
        for piece in every:
            waiting.append(threads.submit(work, piece))
            if len(waiting) >= at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def ahead(every: Iterator[P]) -> Iterator[P]:
    """Yield pieces in their order; a thread makes the next one meanwhile.

    Two are in memory then. What goes wrong in making one is raised where it is due.
    Where pieces are worked on in threads, this makes nothing faster.
    """
    nothing = object()
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(next, every, nothing)
        while (piece := waiting.result()) is not nothing:
            waiting = thread.submit(next, every, nothing)
            yield cast("P", piece)
