"""What all devices of a level and a run draw together, point by point."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import polars as pl

from analysis._energy_choice import METHODS
from analysis._power_held import MW, readings_in
from analysis._power_hold import ages
from analysis._power_roll_columns import SHORT
from ingest.times import SECOND_NS

#: Time between two points, by the kind of reading. [ns]
Grids = Mapping[str, int]

#: What a point is of.
POINT: Final = ("level", "run_id", "semantics", "time_ns")

#: What of it adds up.
SUMS: Final = {
    "power_mw": pl.Int64(),
    "devices": pl.Int64(),
    "readings_count": pl.Int64(),
    "sampled_mw": pl.Int64(),
    "line_mw": pl.Int64(),
    "energy_uj": pl.Int64(),
    "measured_ns": pl.Int64(),
}

_EXTREMES: Final = {"low_mw": pl.Int64(), "high_mw": pl.Int64()}

SCHEMA: Final = {
    **dict.fromkeys(POINT[:3], pl.String()),
    "time_ns": pl.Int64(),
    **SUMS,
    **_EXTREMES,
}

AGES: Final = {
    "run_id": pl.String(),
    "semantics": pl.String(),
    "age_ns": pl.Int64(),
    "points": pl.Int64(),
    "readings": pl.Int64(),
}

#: Columns of readings: of one device, or of several that are sampled together.
READING: Final = (
    "device",
    "time_ns",
    "length_ns",
    "is_measured",
    "watts",
    "slope",
    "power_mw",
    "low_mw",
    "high_mw",
    "devices",
)


class Fleet(NamedTuple):
    """What all devices draw: changes at points of time, and ages of readings."""

    points: pl.DataFrame
    ages: pl.DataFrame

    def plus(self, other: "Fleet") -> "Fleet":
        """Return both together."""
        points = pl.concat([self.points, other.points]).group_by(POINT)
        aged = pl.concat([self.ages, other.ages])
        return Fleet(
            points.agg(
                pl.col(SUMS).sum(), pl.col("low_mw").min(), pl.col("high_mw").max()
            ),
            aged.group_by([name for name in AGES if name != "readings"]).agg(
                pl.col("readings").sum()
            ),
        )


NOTHING: Final = Fleet(pl.DataFrame(schema=SCHEMA), pl.DataFrame(schema=AGES))


def grid_of_kind(grids: Grids) -> pl.Expr:
    """Return the time between two points, by the kind of a row; null for others.

    Args:
        grids: Time between two points.
    """
    # without a default, no kinds at all give text
    return pl.col("semantics").replace_strict(
        dict(grids), default=None, return_dtype=pl.Int64
    )


def fleet_of(
    readings: Mapping[str, pl.DataFrame], spans: pl.DataFrame, grids: Grids
) -> Fleet:
    """Add up what devices draw.

    Args:
        readings: READING by kind of reading.
        spans: `device`, `level`, `run_id` (null where nobody held it), `from_ns` and
            `to_ns`, which share no time.
        grids: Time between two points.
    """
    found = NOTHING
    for semantics, rows in readings.items():
        if rows.is_empty() or semantics not in grids:
            continue
        found = found.plus(_of_kind(semantics, rows, spans, grids[semantics]))
    return found


def _of_kind(
    semantics: str, rows: pl.DataFrame, spans: pl.DataFrame, grid_ns: int
) -> Fleet:
    kind = pl.lit(semantics).alias("semantics")
    parts = [_lines(rows, spans, grid_ns)]
    aged = NOTHING.ages
    if semantics != "counter":
        until = pl.col("time_ns") + pl.when("is_measured").then("length_ns").otherwise(
            0
        )
        power = pl.when("is_measured").then("power_mw").otherwise(0)
        read = rows.select(
            "device",
            taken_ns="time_ns",
            until_ns=until,
            power_mw=power,
        )
        weights = rows.select("device", "devices").unique("device")
        force = readings_in(read, spans).join(weights, on="device")
        parts += [*_changes(force, grid_ns), _taken(rows, spans, grid_ns)]
        gridded = force.with_columns(grid_ns=pl.lit(grid_ns), origin_ns=pl.lit(0))
        of_runs = gridded.filter(pl.col("run_id").is_not_null())
        aged = ages(of_runs).with_columns(kind).select(list(AGES))
    every = pl.concat([NOTHING.points, *parts], how="diagonal")
    points = every.with_columns(kind, pl.col(SUMS).fill_null(0))
    return NOTHING.plus(Fleet(points.select(list(SCHEMA)), aged))


def _changes(force: pl.DataFrame, grid_ns: int) -> Iterator[pl.DataFrame]:
    """Yield at which points readings come into force, and at which they cease to be."""
    for column, sign in (("time_ns", 1), ("until_ns", -1)):
        yield (
            force.group_by(
                "level", "run_id", time_ns=-(-pl.col(column) // grid_ns) * grid_ns
            ).agg(pl.col("power_mw", "devices").sum() * sign)
        )


def _taken(rows: pl.DataFrame, spans: pl.DataFrame, grid_ns: int) -> pl.DataFrame:
    """Return which readings are taken from each point on until the next."""
    placed = _placed(rows, spans, is_closed=True)
    return placed.group_by(
        "level", "run_id", time_ns=pl.col("time_ns") // grid_ns * grid_ns
    ).agg(
        readings_count=pl.col("devices").sum(),
        sampled_mw=pl.col("power_mw").sum(),
        low_mw=pl.col("low_mw").min(),
        high_mw=pl.col("high_mw").max(),
    )


def _placed(
    rows: pl.DataFrame, spans: pl.DataFrame, *, is_closed: bool
) -> pl.DataFrame:
    joined = rows.sort("time_ns").join_asof(
        spans.select("device", "level", "run_id", "from_ns", "to_ns").sort("from_ns"),
        left_on="time_ns",
        right_on="from_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    time, end = pl.col("time_ns"), pl.col("to_ns")
    return joined.filter(time <= end if is_closed else time < end)


def _lines(rows: pl.DataFrame, spans: pl.DataFrame, grid_ns: int) -> pl.DataFrame:
    """Return the energy under the lines between samples, from point to point."""
    measured = rows.filter("is_measured").select(
        "device", "devices", "time_ns", "length_ns", "watts", "slope"
    )
    cut = _placed(_cut(measured, spans), spans, is_closed=False)
    end = pl.min_horizontal(pl.col("time_ns") + pl.col("length_ns"), "to_ns")
    first, last = pl.col("time_ns") // grid_ns, -(-pl.col("end_ns") // grid_ns)
    each = (
        cut.with_columns(end_ns=end)
        .with_columns(_point=pl.int_ranges(first, last))
        .explode("_point")
        .drop_nulls("_point")
        .with_columns(time=pl.col("_point") * grid_ns)
    )
    since = pl.max_horizontal("time", "time_ns") - pl.col("time_ns")
    until = pl.min_horizontal(pl.col("time") + grid_ns, "end_ns") - pl.col("time_ns")
    middle = pl.col("watts") + pl.col("slope") * (since + until) / 2
    joules = middle * (until - since) / SECOND_NS
    at_point = pl.col("watts") + pl.col("slope") * since
    is_at = pl.col("time") >= pl.col("time_ns")
    return each.group_by("level", "run_id", time_ns="time").agg(
        line_mw=(at_point * MW).filter(is_at).round().cast(pl.Int64).sum(),
        energy_uj=(joules * 1e6).round().cast(pl.Int64).sum(),
        measured_ns=((until - since) * pl.col("devices")).sum(),
    )


def _cut(rows: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Cut segments where a run begins to hold their device."""
    inner = (
        spans.select("device", at="from_ns")
        .sort("at")
        .join_asof(
            rows.sort("time_ns"),
            left_on="at",
            right_on="time_ns",
            by="device",
            strategy="backward",
            allow_exact_matches=False,
            check_sortedness=False,
        )
    )
    since = pl.col("at") - pl.col("time_ns")
    later = inner.filter(since < pl.col("length_ns")).with_columns(
        time_ns="at",
        watts=pl.col("watts") + pl.col("slope") * since,
        length_ns=pl.col("length_ns") - since,
    )
    return pl.concat([rows, later.select(rows.columns)])


def readings_of(
    marked: pl.DataFrame, segments: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Return the readings of each kind, one device each.

    Args:
        marked: Rows of `mark_doubts`.
        segments: What each method says of the time between samples.
    """
    found = {}
    for method, column in METHODS.items():
        is_counter = method == "counter"
        told = segments[method].select(
            *("device", "time_ns", "length_ns", "is_measured", "watts", "slope")
        )
        value = pl.lit(0.0) if is_counter else pl.col(column)
        values = marked.select("device", "time_ns", _value=value)
        joined = told.join(
            values, on=["device", "time_ns"], how="left", maintain_order="left"
        )
        power = (pl.col("_value") * MW).round().cast(pl.Int64)
        found[SHORT[column]] = joined.with_columns(
            power_mw=power,
            low_mw=power,
            high_mw=power,
            devices=pl.lit(1, pl.Int64),
        ).select(READING)
    return found
