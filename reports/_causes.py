"""How often each cause stopped a run, in words that add up."""

from typing import Final

import polars as pl

from reports._words import listed, name, plural, said

#: Causes that are named; one more is, too, where it is the last.
_MOST: Final = 3


def caused(causes: pl.Series) -> str:
    """Say how many stops each cause has, the most frequent first.

    The rest is one sum, so that the counts add up to all stops.

    Args:
        causes: The cause of each stop.
    """
    name_, count = causes.name, "count"
    order = causes.value_counts().sort([count, name_], descending=[True, False])
    rows = list(order.select(name_, count).iter_rows())
    named = len(rows) if len(rows) <= _MOST + 1 else _MOST
    words = [_caused(*row) for row in rows[:named]]
    rest = rows[named:]
    if rest:
        stops = sum(count for _, count in rest)
        words.append(f"{stops} by {plural(len(rest), 'more cause')}")
    return listed(words, _MOST + 1)


def _caused(cause: str, count: int) -> str:
    by = "" if cause == "unattributed" else "by "
    return f"{count} {by}{said(name(cause))}"
