"""The clocks of each window, fitted."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._clock_coarse import far_clocks, lost_clocks, nearer, nearer_ends
from analysis._clock_fit import Ends, Fit, fit_clocks
from analysis._clock_told import told
from analysis._clock_windows import clocks_in_windows, number_windows

#: Collectives that a clock must be seen in. [1]
LEAST_COUNT: Final = 3

#: Ends that the clocks of a window are fitted to: some 300 MB. [1]
MOST_ENDS: Final = 1_000_000

#: Collectives of a group that are kept in any case. [1]
_LEAST_KEPT: Final = 30

_WINDOW: Final = ("run_id", "attempt", "window")
_CLOCK: Final = ("run_id", "attempt", "clock")


def answers(
    seen: pl.DataFrame, ends: pl.DataFrame, most_ends: int = MOST_ENDS
) -> pl.DataFrame:
    """Fit the clocks of each window.

    What clocks are off by that no window holds together is taken out before, and put
    back after.

    Args:
        seen: Rows of `sightings`.
        ends: Rows of `common_ends`, with `moment` and `group` numbered.
        most_ends: Ends to fit the clocks of a window to. [1]

    Returns:
        The columns of ClockOffsets.
    """
    far = far_clocks(ends)
    near, moved = nearer(seen, far), nearer_ends(ends, far)
    windows = number_windows(near)
    clocks = _numbered(clocks_in_windows(near, windows), lost_clocks(moved))
    numbered = clocks.select(*_WINDOW, "clock", "number", "reference_ns")
    placed = (
        moved.filter("is_near")
        .sort("bin")
        .join_asof(
            windows.sort("bin"),
            on="bin",
            by=["run_id", "attempt"],
            strategy="backward",
            check_sortedness=False,
        )
    )
    shared = placed.join(numbered, on=[*_WINDOW, "clock"])
    return pl.concat(
        [
            told(mine, _fit(theirs, mine.height, most_ends), LEAST_COUNT)
            for mine, theirs in _by_window(clocks, shared)
        ]
    )


def _numbered(clocks: pl.DataFrame, lost: pl.DataFrame) -> pl.DataFrame:
    """Number the clocks of each window, and give it its time of reference."""
    first, last = pl.col("from_ns").min(), pl.col("to_ns").max()
    told = clocks.join(lost, on=list(_CLOCK), how="left", maintain_order="left")
    return told.with_columns(
        pl.col("is_lost").fill_null(value=False),
        number=pl.int_range(pl.len(), dtype=pl.Int64).over(_WINDOW),
        reference_ns=(first + (last - first) // 2).over(_WINDOW),
    )


def _by_window(
    clocks: pl.DataFrame, ends: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    of_window = ends.partition_by(_WINDOW, as_dict=True)
    windows = clocks.partition_by(_WINDOW, as_dict=True, maintain_order=True)
    for window, mine in windows.items() or [((), clocks)]:
        yield mine, of_window.get(window, ends.clear())


def _fit(ends: pl.DataFrame, clocks: int, most_ends: int) -> Fit:
    kept = _thinned(_often(ends), most_ends)
    since = (pl.col("first_ns") - pl.col("reference_ns")) + pl.col("away_ns")
    rows = kept.select(
        "number",
        moment=pl.col("moment").rank("dense").cast(pl.Int64) - 1,
        group=pl.col("group").rank("dense").cast(pl.Int64) - 1,
        end_ns=since.cast(pl.Float64),
    ).sort("moment", "number")
    moment, number, group = (
        rows[name].to_numpy() for name in ("moment", "number", "group")
    )
    return fit_clocks(Ends(moment, number, group, rows["end_ns"].to_numpy(), clocks))


def _often(ends: pl.DataFrame) -> pl.DataFrame:
    """Keep clocks that are seen often enough, and what two of those saw."""
    often = ends.filter(pl.len().over("number") >= LEAST_COUNT)
    return often.filter(pl.len().over("moment") > 1)


def _thinned(ends: pl.DataFrame, most: int) -> pl.DataFrame:
    """Keep every so-manieth moment of each group, evenly over time."""
    share = -(-ends.height // most)
    if share <= 1:
        return ends
    moments = ends.select("group", "moment", "first_ns").unique()
    place = pl.col("first_ns").rank("ordinal") - 1
    step = (pl.len() // _LEAST_KEPT).clip(1, share)
    ordered = moments.sort("group", "first_ns", "moment")
    chosen = ordered.filter((place % step == 0).over("group"))
    return ends.join(chosen.select("moment"), on="moment", how="semi")
