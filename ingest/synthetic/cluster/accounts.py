"""Where the paid time of a generated run went, by its own clock, to the nanosecond."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ingest.synthetic.cluster._felt import Ints
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import StepWindow
from ingest.times import DAY_NS

#: Accounts of a step that is kept, in the order in which its time is laid out; the
#: last is what the parts leave.
STEP_ACCOUNTS: Final = (
    ("checkpoint_stall", "checkpoint"),
    ("data_stall", "data"),
    ("straggler_wait", "wait"),
    ("exposed_communication", "communication"),
    ("productive", "compute"),
)
_REST: Final = "idle"

_US: Final = 1_000


class Booked(NamedTuple):
    """What GPU time is booked under.

    Attributes:
        attempt: Attempt; None between attempts.
        day: UTC day, counted from the epoch.
        account: Account.
    """

    attempt: int | None
    day: int
    account: str


Accounts = Counter[Booked]


def book_steps(window: StepWindow) -> Accounts:
    """Book the steps of a window.

    A step that is done again is recompute as a whole. One that crosses midnight is
    split in proportion: of its first accounts together, C, the first day has
    floor(C x / L), with x of its length L before midnight.
    """
    start, duration = window.start[:, 0], window.duration[:, 0]
    first, last = start // DAY_NS, (start + duration - 1) // DAY_NS
    booked: Accounts = Counter()
    for day in np.unique(first).tolist():
        for is_kept in (True, False):
            rows = (first == day) & (last == day) & (window.is_kept == is_kept)
            sums = {name: int(one[rows].sum()) for name, one in _sums(window, is_kept)}
            booked.update(_named(window, day, sums))
    for row in np.flatnonzero(first != last).tolist():
        for day, sums in _across(window, row):
            booked.update(_named(window, day, sums))
    return booked


def _named(window: StepWindow, day: int, sums: dict[str, int]) -> dict[Booked, int]:
    number = window.attempt.number
    return {Booked(number, day, name): time for name, time in sums.items() if time}


def _sums(window: StepWindow, is_kept: bool) -> Iterator[tuple[str, Ints]]:
    """Yield each account with its time in each step, over all ranks. [ns]"""
    whole = window.duration[:, 0] * window.ranks
    if not is_kept:
        yield "recompute", whole
        return
    rest = whole
    for account, part in STEP_ACCOUNTS:
        array = getattr(window, part)
        alike = array.strides[1] == 0
        time = array[:, 0] * window.ranks if alike else array.sum(1)
        rest = rest - time
        yield account, time
    yield _REST, rest


def _across(window: StepWindow, row: int) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield what both days have of a step that crosses midnight."""
    start = int(window.start[row, 0])
    length = int(window.duration[row, 0])
    day = start // DAY_NS
    before = (day + 1) * DAY_NS - start
    parts: dict[str, Ints] = {"recompute": window.duration[row]}
    if window.is_kept[row]:
        parts = {name: getattr(window, part)[row] for name, part in STEP_ACCOUNTS}
        parts[_REST] = window.duration[row] - sum(parts.values())
    done, given = np.zeros(window.ranks, dtype=np.int64), 0
    first, second = {}, {}
    for name, time in parts.items():
        done = done + time
        # in us: a product of ns would leave 64 bits
        reached = int((done // _US * (before // _US) * _US // (length // _US)).sum())
        first[name] = reached - given
        second[name] = int(time.sum()) - first[name]
        given = reached
    yield day, first
    yield day + 1, second


def book_rest(cluster: Cluster) -> Accounts:
    """Book the time in which no step was completed, and that of spares."""
    booked: Accounts = Counter()
    ranks, attempts = cluster.scenario.ranks, cluster.attempts
    for attempt in attempts:
        opened, closed = stepped(attempt)
        for bounds in ((attempt.start_ns, opened), (closed, attempt.end_ns)):
            _book(booked, attempt.number, "restart", bounds, ranks)
    if not cluster.scenario.calendar.reserved:
        return booked
    for attempt, following in pairwise(attempts):
        between = (attempt.end_ns, following.start_ns)
        _book(booked, None, "restart", between, ranks)
        _book(booked, None, "unallocated", between, spare_gpus(cluster))
    for attempt in attempts:
        held = (attempt.start_ns, attempt.end_ns)
        _book(booked, attempt.number, "unallocated", held, spare_gpus(cluster))
    return booked


def stepped(attempt: Attempt) -> tuple[int, int]:
    """Return when an attempt began its first step and completed its last. [ns]

    One that completed none began and ended at its end.
    """
    if not attempt.steps:
        return attempt.end_ns, attempt.end_ns
    last = attempt.begin_ns + int(attempt.clock.end[-1]) * _US
    return attempt.begin_ns, last


def spare_gpus(cluster: Cluster) -> int:
    """Return how many GPUs are paid for beyond those of the run. [1]"""
    fleet = cluster.scenario.fleet
    return fleet.spares * fleet.gpus_per_node


def paid_ns(cluster: Cluster) -> int:
    """Return the GPU time that is paid for. [ns]"""
    ranks, attempts = cluster.scenario.ranks, cluster.attempts
    held = sum(one.end_ns - one.start_ns for one in attempts) * ranks
    if not cluster.scenario.calendar.reserved:
        return held
    whole = attempts[-1].end_ns - attempts[0].start_ns if attempts else 0
    return whole * (ranks + spare_gpus(cluster))


def _book(
    booked: Accounts,
    attempt: int | None,
    account: str,
    bounds: tuple[int, int],
    gpus: int,
) -> None:
    """Book a time of some GPUs, cut at midnight."""
    start, end = bounds
    while start < end:
        day = start // DAY_NS
        until = min(end, (day + 1) * DAY_NS)
        if gpus:
            booked[Booked(attempt, day, account)] += (until - start) * gpus
        start = until


def total(booked: Iterable[Accounts]) -> Accounts:
    """Add accounts up."""
    found: Accounts = Counter()
    for one in booked:
        found.update(one)
    return found
