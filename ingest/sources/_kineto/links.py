"""Find the call that launched each piece of work, and the step that the call was in."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from ingest.sources._kineto.spool import Spool

#: Keys that link work to its launch, the better one first. AMD's older profilers give
#: no correlation; then a launch shares the operation's id with its work.
_KEYS: Final = ("correlation", "external")

_CALLS: Final = pl.Schema({"key": pl.Int64, "launch": pl.Int64})


class Links:
    """Launches and steps of a trace."""

    def __init__(self, launches: Spool, steps: pl.DataFrame) -> None:
        """Look at launches (`correlation`, `external`, `launch`) and steps. [ns]"""
        self._launches = launches
        low, high = (
            pl.all().min().name.suffix("_min"),
            pl.all().max().name.suffix("_max"),
        )
        self._bounds = [
            frame.select(low, high).row(0, named=True) for frame in launches
        ]
        self._steps = steps

    def link(self, work: pl.DataFrame) -> pl.DataFrame:
        """Return the work with `launch` and `step`, in another order.

        An id can recur, in traces glued together: the last call at or before the start
        of the work counts, else the next one after it. Several pieces of work may have
        one launch (graphs). The step is that of the call, whenever the work ran.

        Args:
            work: Work with `event`, `start`, `correlation` and `external`. [ns]
        """
        is_correlated = pl.col("correlation").fill_null(0) > 0
        calls = [
            self._launched(work.filter(is_correlated), "correlation"),
            self._launched(work.filter(~is_correlated), "external"),
        ]
        launched = with_step(pl.concat(calls), self._steps)
        return work.join(launched, on="event", how="left")

    def _launched(self, work: pl.DataFrame, name: str) -> pl.DataFrame:
        """Return `event` and `launch` of the work whose launch has the same key."""
        wanted = work.select("event", "start", key=name).filter(pl.col("key") > 0)
        keys = wanted.select("key").unique()
        near = self._near(keys["key"], name)
        parts = [frame.join(keys, on="key", how="semi") for frame in near]
        calls = pl.concat([pl.DataFrame(schema=_CALLS), *parts])
        if calls["key"].n_unique() == len(calls):
            return wanted.join(calls, on="key").select("event", "launch")
        return _nearest(wanted, calls)

    def _near(self, keys: pl.Series, name: str) -> Iterator[pl.DataFrame]:
        """Yield `key` and `launch` of the frames that may hold some keys."""
        low, high = keys.min(), keys.max()
        for number, bounds in enumerate(self._bounds):
            first, last = bounds[f"{name}_min"], bounds[f"{name}_max"]
            if low is not None and first is not None and low <= last and first <= high:
                yield (
                    self._launches[number]
                    .select("launch", key=name)
                    .select(_CALLS.names())
                )


def with_step(
    launched: pl.DataFrame, steps: pl.DataFrame, by: str | None = None
) -> pl.DataFrame:
    """Return `event`, `launch` and the step that was open when it was launched.

    Args:
        launched: Work with `event` and `launch`. [ns]
        steps: Steps with `step`, `start` and `duration`. [ns]
        by: What a launch and its step have in common, with several processes.
    """
    opened = steps.select(
        "step",
        *([by] if by else []),
        step_start=pl.col("start"),
        step_end=pl.col("start") + pl.col("duration"),
    ).sort("step_start")
    found = launched.sort("launch").join_asof(
        opened,
        left_on="launch",
        right_on="step_start",
        by=by,
        strategy="backward",
        check_sortedness=by is None,
    )
    is_open = pl.col("launch") < pl.col("step_end")
    return found.select("event", "launch", step=pl.when(is_open).then("step"))


def _nearest(wanted: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Pick one of several calls with the same key."""
    left = wanted.sort("start")
    right = calls.sort("launch")
    before, after = (
        left.join_asof(
            right,
            left_on="start",
            right_on="launch",
            by="key",
            strategy=strategy,
            check_sortedness=False,
        )
        for strategy in ("backward", "forward")
    )
    launch = before["launch"].fill_null(after["launch"])
    return left.select("event", launch=launch).filter(pl.col("launch").is_not_null())
