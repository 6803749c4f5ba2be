"""Blocks of things as one array: what is slow for long enough is taken out of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from analysis._straggler_day_pass import Compared
from analysis._straggler_middle import Number, Whole, known_median, median_of
from analysis._straggler_scores import ATTEMPT

#: Values to hold at once while medians of hosts and racks are taken.
_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of a run's day.

    Attributes:
        columns: Each block in order: `place`, `attempt`, `block`, `first_step`,
            `last_step`, `moment_first` and `moment_last`.
        values: Median ratios, things by blocks; NaN where a thing has none. [1]
    """

    columns: pl.DataFrame
    values: Number

    def of(self, things: Whole) -> pl.DataFrame:
        """Return the blocks of some things, as `blocks_of_things` does.

        Args:
            things: Numbers of things.
        """
        values = self.values[things]
        row, column = np.nonzero(~np.isnan(values))
        told = self.columns.select("place", "moment_first", "moment_last")
        return told[column].select(
            pl.Series("thing", things[row], dtype=pl.UInt32),
            "place",
            pl.Series("ratio", values[row, column], dtype=pl.Float64),
            "moment_first",
            "moment_last",
        )


def columns_of(compared: Sequence[Compared]) -> pl.DataFrame:
    """Return the columns of Blocks."""
    bounds = [_bounds(one) for one in compared]
    place = pl.col("attempt") * ATTEMPT
    return (
        pl.concat([_none(), *bounds])
        .with_columns(
            place=place + pl.col("block"),
            moment_first=place + pl.col("first_step"),
            moment_last=place + pl.col("last_step"),
        )
        .sort("place")
    )


def _none() -> pl.DataFrame:
    names = ["attempt", "block", "first_step", "last_step"]
    return pl.DataFrame(schema=dict.fromkeys(names, pl.Int64))


def _bounds(one: Compared) -> pl.DataFrame:
    names = ["block", "first_step", "last_step"]
    bounds = pl.DataFrame(one.blocks, schema=dict.fromkeys(names, pl.Int64))
    return bounds.select(pl.lit(one.attempt, pl.Int64).alias("attempt"), *names)


def blocks_of_day(compared: Sequence[Compared], cover: pl.DataFrame) -> Blocks:
    """Bring the blocks of a day's pieces together, and take those of wholes.

    Args:
        compared: Pieces of the day.
        cover: Which things each rank belongs to.
    """
    columns = columns_of(compared)
    things = int(str(cover["thing"].max())) + 1 if cover.height else 0
    values = np.full((things, columns.height), np.nan, np.float32)
    of_attempt = columns["attempt"].to_numpy()
    for attempt in np.unique(of_attempt):
        mine = [one for one in compared if one.attempt == attempt]
        first = int(np.searchsorted(of_attempt, attempt))
        told = cover.filter(pl.col("attempt") == attempt)
        block = columns["block"].to_numpy()[first]
        width = int(np.sum(of_attempt == attempt))
        into = values[:, first : first + width]
        is_stage = pl.col("scope") == "stage"
        _of_ranks(mine, told.filter(~is_stage), int(block), into)
        _of_stages(mine, told.filter(is_stage), int(block), into)
    return Blocks(columns, values)


def _of_ranks(
    mine: Sequence[Compared], cover: pl.DataFrame, block: int, into: Number
) -> None:
    ranks = np.unique(np.concatenate([one.units["rank"].to_numpy() for one in mine]))
    values = np.full((len(ranks), into.shape[1]), np.nan, np.float32)
    for one in mine:
        rows = np.searchsorted(ranks, one.units["rank"].to_numpy())
        at = _at(one, block)
        values[rows, at] = one.ratios.T
    for things, members in _members(cover, ranks):
        size = max(1, _AT_ONCE // (members.shape[1] * max(1, into.shape[1])))
        for start in range(0, len(things), size):
            some = members[start : start + size]
            into[things[start : start + size]] = _median([*values[some.T]])


def _members(cover: pl.DataFrame, ranks: Whole) -> Iterator[tuple[Whole, Whole]]:
    """Yield things with as many ranks each, and the rows of those ranks."""
    ordered = cover.select("thing", "rank").unique().sort("thing", "rank")
    of_thing = ordered["thing"].to_numpy()
    rows = np.searchsorted(ranks, ordered["rank"].to_numpy())
    things, first, count = np.unique(of_thing, return_index=True, return_counts=True)
    for size in np.unique(count):
        mine = count == size
        yield things[mine], rows[first[mine, None] + np.arange(size)]


def _median(parts: list[Number]) -> Number:
    if len(parts) == 1:
        return parts[0]
    if any(np.isnan(part).any() for part in parts):
        return known_median(np.stack(parts, axis=-1))
    return median_of(parts)


def _of_stages(
    mine: Sequence[Compared], cover: pl.DataFrame, block: int, into: Number
) -> None:
    numbers = cover.select("thing", stage=pl.col("scope_id").cast(pl.Int64)).unique()
    thing_of = dict(zip(numbers["stage"], numbers["thing"], strict=True))
    for one in mine:
        for at, stage in enumerate(one.stages.tolist()):
            if stage in thing_of:
                into[thing_of[stage], _at(one, block)] = one.stage_ratios[:, at]


def _at(one: Compared, block: int) -> slice:
    first = int(one.blocks[0, 0]) - block
    return slice(first, first + len(one.blocks))
