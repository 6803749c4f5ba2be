"""Windows that are read ahead, and what is said while a long day is condensed."""

import threading
from collections.abc import Iterator, Sequence

import polars as pl
import pytest

from analysis._threads import ahead, in_threads
from pipeline._days import watched
from pipeline._pace import Pace


def window(number: int) -> pl.DataFrame:
    return pl.DataFrame({"step": [number] * (number + 1)})


def read(
    columns: Sequence[str], bounds: tuple[int, int] | None
) -> Iterator[pl.DataFrame]:
    low, high = bounds or (0, 3)
    yield from (window(number).select(columns) for number in range(low, high + 1))


def test_windows_keep_their_order() -> None:
    found = list(ahead(read(["step"], None)))
    assert [one["step"][0] for one in found] == [0, 1, 2, 3]
    assert list(ahead(iter([]))) == []


def test_the_next_window_is_made_while_one_is_worked_on() -> None:
    """Without a thread, the second window would never begin: the test would wait."""
    begun = threading.Event()

    def made() -> Iterator[pl.DataFrame]:
        yield window(0)
        begun.set()
        yield window(1)

    windows = ahead(made())
    next(windows)
    assert begun.wait(timeout=10)
    assert [one.height for one in windows] == [2]


def test_what_goes_wrong_is_raised_where_it_is_due() -> None:
    def broken() -> Iterator[pl.DataFrame]:
        yield window(0)
        message = "gone"
        raise OSError(message)

    windows = ahead(broken())
    assert next(windows).height == 1
    with pytest.raises(OSError, match="gone"):
        next(windows)


def test_who_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    windows = ahead(read(["step"], None))
    next(windows)
    windows.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_rows_count_once_however_often_they_are_looked_up() -> None:
    seen: list[int] = []
    both = watched(read, seen.append)
    list(both(["step"], None))
    list(both(["step"], (1, 2)))
    assert seen == [1, 2, 3, 4]


def test_a_long_piece_is_told_of_every_some_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """100 rows: 20 by second 4, 50 by second 10, so that 50 are left for 10 s."""
    now_s = 0.0
    monkeypatch.setattr("pipeline._pace.time.monotonic", lambda: now_s)
    pace = Pace(100)
    now_s = 4.0
    assert pace.within(20) is None
    now_s = 10.0
    told = pace.within(30)
    assert told == "50 of 100 rows (0.0 M rows/s), 10 s left"
    assert pace.within(1) is None
    assert "0 s left" in pace.told(100, 100)


def test_pieces_that_are_worked_on_at_once_keep_their_order() -> None:
    """The first piece ends only when the second has begun: both are worked on."""
    second = threading.Event()

    def work(number: int) -> int:
        if number == 1:
            second.set()
        return number * 10 if number or second.wait(timeout=10) else -1

    assert list(in_threads(work, iter(range(5)), 2)) == [0, 10, 20, 30, 40]
    assert list(in_threads(work, iter([0]), 1)) == [0]
