"""Windows of rows that are read while the one before is worked on."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import polars as pl

from analysis._rollup import Bounds, ReadWindows


def ahead(windows: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield windows in their order; a thread makes the next one meanwhile.

    Two are in memory then. What goes wrong in making one is raised where it is due.
    """
    with ThreadPoolExecutor(1, "ahead") as thread:
        waiting = thread.submit(next, windows, None)
        while (window := waiting.result()) is not None:
            waiting = thread.submit(next, windows, None)
            yield window


def watched(read: ReadWindows, seen: Callable[[int], None]) -> ReadWindows:
    """Return a way to read windows ahead that tells how many rows were worked on.

    Args:
        read: Reads the windows.
        seen: Told of the rows of each, once the next one is asked for. Rows that are
            looked up again, within bounds, do not count.
    """
    return partial(_watched, read, seen)


def _watched(
    read: ReadWindows,
    seen: Callable[[int], None],
    columns: Sequence[str],
    bounds: Bounds | None = None,
) -> Iterator[pl.DataFrame]:
    for window in ahead(read(columns, bounds)):
        yield window
        if bounds is None:
            seen(window.height)
