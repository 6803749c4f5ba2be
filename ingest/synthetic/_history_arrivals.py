"""When a history stops, and why: arrivals of a Poisson process, each with a cause."""

from itertools import pairwise

from ingest.synthetic._history_causes import TABLE_5, UPGRADE, Cause
from ingest.synthetic._history_scenario import DAY_S, History

#: A stop: when, on a clock that only runs while an attempt does, and why. [s]
Arrival = tuple[int, Cause]


def arrivals(history: History) -> list[Arrival]:
    """Draw the stops of a history, in order of time.

    Unexpected ones have exponential gaps, and each its cause with the table's odds: so
    the counts of all causes are independent and Poisson. The clock is that of attempts,
    so that the time in which a stop can come is the time that attempts are seen. Times
    are whole seconds, the next greater one that is free.
    """
    whole = history.days * DAY_S
    drawn = [*_unexpected(history, whole), *_planned(history, whole)]
    drawn.sort(key=lambda one: (one[0], one[1].name))
    stops: list[Arrival] = []
    last = 0
    for at, cause in drawn:
        last = max(int(at) + 1, last + 1)
        if last < whole:
            stops.append((last, cause))
    return stops


def _unexpected(history: History, whole: int) -> list[tuple[float, Cause]]:
    draw = history.draws("stops")
    odds = [cause.count for cause in TABLE_5]
    found: list[tuple[float, Cause]] = []
    at = draw.expovariate(history.unexpected / whole) if history.unexpected else whole
    while at < whole:
        found.append((at, draw.choices(TABLE_5, odds)[0]))
        at += draw.expovariate(history.unexpected / whole)
    return found


def _planned(history: History, whole: int) -> list[tuple[float, Cause]]:
    draw = history.draws("planned stops")
    return [(draw.uniform(0, whole), UPGRADE) for _ in range(history.planned)]


def lengths(history: History, stops: list[Arrival]) -> list[int]:
    """Return how long each attempt runs, the last one to the end of the history. [s]"""
    ends = [0, *(at for at, _ in stops), history.days * DAY_S]
    return [after - before for before, after in pairwise(ends)]
