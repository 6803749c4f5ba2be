"""Devices whose samples were condensed: their days, hours, and who held them when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_chunks import chunks, numbered
from analysis._energy_windows import DEVICE
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from ingest.times import DAY_NS

#: Rows of hours that are worked on at once, in samples: an hour has a hundred or more.
_SAMPLES_OF_A_ROW: Final = 100


@dataclass(frozen=True, slots=True)
class Condensed:
    """Devices of some levels whose samples were condensed.

    Attributes:
        devices: Rows of `devices_of`.
        days: Rows of PowerDays, of the levels.
        hours: Rows of PowerHours, of the columns that are looked at.
    """

    devices: pl.DataFrame
    days: pl.LazyFrame
    hours: pl.LazyFrame

    @classmethod
    def of(
        cls,
        frames: Frames,
        gpus: pl.DataFrame,
        levels: Sequence[str],
        columns: Sequence[str],
    ) -> Self:
        """Take the devices of some levels.

        Args:
            frames: The tables.
            gpus: `cluster`, `host` and `gpu_uuid` of Gpus.
            levels: Levels.
            columns: What of hours is looked at, beside whose they are and when.
        """
        among = PowerDays.level.col.is_in(levels)
        days = frames[PowerDays].filter(among)
        told = days.group_by(DEVICE).agg(
            pl.col("first_ns").min(),
            pl.col("last_ns").max(),
            samples=pl.col("samples_count").sum(),
        )
        devices = numbered(told.collect(engine="streaming"), gpus)
        hours = frames[PowerHours].filter(PowerHours.level.col.is_in(levels))
        seen = hours.select(*DEVICE, "level", "from_ns", "to_ns", *columns)
        return cls(devices, days, seen)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was condensed."""
        return self.devices.is_empty()

    def days_of(self, some: pl.DataFrame) -> pl.DataFrame:
        """Return the days of devices.

        Args:
            some: Rows of `devices`.

        Returns:
            Rows of PowerDays with `device`, sorted by device and time.
        """
        seen = some.select("device", "seen").explode("seen").unnest("seen")
        mine = self.days.join(seen.lazy(), on=DEVICE, nulls_equal=True)
        days = mine.collect(engine="streaming")
        return one_spelling(days.sort("device", "first_ns", *DEVICE))

    def lots(
        self, some: pl.DataFrame, held: pl.DataFrame | None = None
    ) -> Iterator["Lot"]:
        """Yield devices in lots that fit into memory.

        Args:
            some: Rows of `devices`.
            held: Only of devices that are in it, where it is given.
        """
        mine = some
        if held is not None:
            mine = some.join(held, on="device", how="semi").sort("device")
        sized = mine.with_columns(pl.col("samples") // _SAMPLES_OF_A_ROW)
        for chunk in chunks(sized):
            days = self.days_of(chunk)
            yield Lot(chunk, days, hours_of(self.hours, days))


def hours_of(hours: pl.LazyFrame, days: pl.DataFrame) -> pl.DataFrame:
    """Return the hours of days, read from their nodes alone.

    Args:
        hours: Rows of PowerHours.
        days: Rows of PowerDays with `device`.

    Returns:
        The hours with `device`, sorted by it and time.
    """
    names = days.select(*DEVICE, "level", "device", _day=_day("first_ns")).unique()
    if not names["host"].null_count():
        first, last = (
            pl.lit(str(end)) for end in (names["host"].min(), names["host"].max())
        )
        hours = hours.filter(PowerHours.host.col.is_between(first, last))
    keyed = hours.with_columns(_day=_day("from_ns"))
    joined = keyed.join(names.lazy(), on=[*DEVICE, "level", "_day"], nulls_equal=True)
    return joined.collect(engine="streaming").sort("device", "from_ns")


@dataclass(frozen=True, slots=True)
class Lot:
    """Some devices, with `device`, their days and their hours."""

    devices: pl.DataFrame
    days: pl.DataFrame
    hours: pl.DataFrame


def _day(column: str) -> pl.Expr:
    return pl.col(column) // DAY_NS


def one_spelling(days: pl.DataFrame) -> pl.DataFrame:
    """Leave one of the rows of a device whose sources name it in two ways at a time.

    The one with more samples counts; the row is marked as repeated.

    Args:
        days: Rows of PowerDays with `device`, sorted by it and by time.
    """
    of_day = [pl.col("device"), _day("first_ns")]
    reached = pl.col("last_ns").cum_max().shift(1).over(of_day)
    is_beside = (pl.col("first_ns") <= reached).fill_null(value=False).any()
    most = pl.col("samples_count") == pl.col("samples_count").max()
    marked = days.with_columns(
        is_repeated=is_beside.over(of_day),
        _most=most.over(of_day) & (most.cum_sum().over(of_day) == 1),
    )
    kept = marked.filter(~pl.col("is_repeated") | pl.col("_most"))
    return kept.drop("_most")


def placed_hours(hours: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Give hours the window they lie in.

    Hours are cut where runs began and ended to hold their device. One that is not,
    since that was learned later, is shared by time.

    Args:
        hours: Rows of PowerHours with `device`.
        windows: `device`, `from_ns`, `to_ns` and what tells them apart; those of a
            device share no time.

    Returns:
        The hours with the other columns of the windows, and `share`. [1]
    """
    told = windows.rename({"from_ns": "_from", "to_ns": "_to"}).sort("_from")
    ordered = hours.drop([c for c in windows.columns if c in _OWN], strict=False)
    ordered = ordered.sort("from_ns")
    inside = ordered.join_asof(
        told,
        left_on="from_ns",
        right_on="_from",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    later = ordered.select("device", "from_ns", "to_ns", _row=pl.int_range(pl.len()))
    starts = later.join_asof(
        told.select("device", "_from"),
        left_on="from_ns",
        right_on="_from",
        by="device",
        strategy="forward",
        allow_exact_matches=False,
        check_sortedness=False,
    )
    is_entered = (starts["_from"] < starts["to_ns"]).fill_null(value=False)
    is_left = (inside["to_ns"] > inside["_to"]) & (inside["from_ns"] < inside["_to"])
    is_split = is_entered | is_left.fill_null(value=False)
    whole = inside.filter(~is_split).filter(_is_in())
    split = ordered.filter(is_split).join(told, on="device")
    length = pl.col("to_ns") - pl.col("from_ns")
    shared = pl.min_horizontal("to_ns", "_to") - pl.max_horizontal("from_ns", "_from")
    parts = split.with_columns(share=shared / length).filter(pl.col("share") > 0)
    both = pl.concat([whole.with_columns(share=pl.lit(1.0)), parts], how="diagonal")
    return both.drop("_from", "_to").sort("device", "from_ns")


#: Columns of hours that windows may have, too.
_OWN: Final = ("run_id",)


def _is_in() -> pl.Expr:
    is_point = pl.col("from_ns") == pl.col("to_ns")
    at_end = is_point & (pl.col("from_ns") == pl.col("_to"))
    return (pl.col("from_ns") < pl.col("_to")) | at_end
