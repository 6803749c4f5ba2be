"""The part of a run's energy that was used in kept steps, by the fleet's power."""

from typing import Final

import polars as pl

from analysis._energy_choice import METHODS
from analysis._power_held import MW
from analysis._power_roll_columns import SHORT
from analysis._power_roll_fleet import Fleet, Grids, grid_of_kind
from ingest.times import SECOND_NS

_ATTEMPT: Final = ("run_id", "attempt")

_GROUP: Final = (*_ATTEMPT, "level")

_LINE: Final = ("level", "run_id", "semantics")

_TOTALS: Final = (
    pl.col("timed_j").sum(),
    pl.col("measured_ns").sum(),
    pl.col("from_ns").min(),
    pl.col("to_ns").max(),
)

_SUMMED: Final = ("energy_j", "measured_ns")


def in_steps(
    fleet: Fleet, grids: Grids, measured: pl.DataFrame, kept: pl.DataFrame
) -> pl.DataFrame:
    """Return the energy of attempts in their kept steps.

    Steps cut no hours. What all devices drew together is told point by point, so that
    its share in kept steps is that of the energy measured. Between points power is a
    straight line, as it is between samples.

    Args:
        fleet: What the devices of runs drew.
        grids: How far apart points are.
        measured: Rows of `by_method` of some devices at a time.
        kept: Rows of `kept_spans`.

    Returns:
        `run_id`, `attempt`, `level`, `productive_j` and `productive_measured_ns`.
    """
    usual = _usual(measured)
    line = _summed_up(fleet, grids)
    whole = usual.select(*_GROUP, "semantics", "from_ns", "to_ns")
    cut = (
        kept.join(
            usual.select(*_GROUP, "semantics", _from="from_ns", _to="to_ns"),
            on=_ATTEMPT,
        )
        .with_columns(
            from_ns=pl.max_horizontal("from_ns", "_from"),
            to_ns=pl.min_horizontal("to_ns", "_to"),
        )
        .filter(pl.col("from_ns") < pl.col("to_ns"))
    )
    held = _between(line, whole)
    steps = _between(line, cut.select(whole.columns))
    joined = usual.join(held, on=_GROUP).join(steps, on=_GROUP, suffix="_kept")
    shares = {
        name: pl.when(pl.col(name) > 0).then(pl.col(f"{name}_kept") / pl.col(name))
        for name in _SUMMED
    }
    return joined.select(
        *_GROUP,
        productive_j=pl.col("timed_j") * shares["energy_j"],
        productive_measured_ns=(pl.col("all_measured_ns") * shares["measured_ns"])
        .round()
        .cast(pl.Int64),
    )


def by_method(measured: pl.DataFrame) -> pl.DataFrame:
    """Add up the devices of an attempt that were measured alike.

    Args:
        measured: Energy of each device in each attempt: `run_id`, `attempt`, `level`,
            `device`, `method`, `timed_j`, `measured_ns`, `from_ns` and `to_ns`.

    Returns:
        `run_id`, `attempt`, `level`, `semantics`, `devices`, `timed_j`, `measured_ns`,
        `from_ns` and `to_ns`, a row for each attempt, level and semantics.
    """
    names = {method: SHORT[column] for method, column in METHODS.items()}
    known = measured.filter(pl.col("method") != "none").with_columns(
        semantics=pl.col("method").replace_strict(names, return_dtype=pl.String)
    )
    alike = known.sort(*_GROUP, "device").group_by(
        *_GROUP, "semantics", maintain_order=True
    )
    return alike.agg(*_TOTALS, devices=pl.len())


def _usual(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the method of most devices of an attempt, and what was measured in all."""
    most = ["devices", "semantics"]
    alike = (
        measured.sort(*_GROUP, maintain_order=True)
        .group_by(*_GROUP, "semantics", maintain_order=True)
        .agg(*_TOTALS, pl.col("devices").sum())
        .sort(*_GROUP, *most, descending=[False] * 3 + [True, False])
    )
    return (
        alike.group_by(_GROUP, maintain_order=True)
        .agg(*_TOTALS, pl.col("semantics").first())
        .rename({"measured_ns": "all_measured_ns"})
    )


def _summed_up(fleet: Fleet, grids: Grids) -> pl.DataFrame:
    """Return what had been used by each point."""
    known = fleet.points.filter(pl.col("measured_ns") > 0).sort(*_LINE, "time_ns")
    told = known.select(
        *_LINE,
        "time_ns",
        _energy=pl.col("energy_uj") / 1e6,
        _measured="measured_ns",
        _watts=pl.col("line_mw") / MW,
        _grid=grid_of_kind(grids),
    )
    return told.with_columns(
        energy_j=pl.col("_energy").cum_sum().over(_LINE) - pl.col("_energy"),
        measured_ns=pl.col("_measured").cum_sum().over(_LINE) - pl.col("_measured"),
    ).sort("time_ns")


def _between(line: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return what was used in spans, added up by attempt and level."""
    ends = [
        spans.select(*_GROUP, "semantics", at=edge, sign=pl.lit(sign))
        .sort("at")
        .join_asof(
            line,
            left_on="at",
            right_on="time_ns",
            by=list(_LINE),
            strategy="backward",
            check_sortedness=False,
        )
        for edge, sign in (("from_ns", -1), ("to_ns", 1))
    ]
    since = pl.min_horizontal(pl.col("at") - pl.col("time_ns"), "_grid")
    part, seconds = since / pl.col("_grid"), since / SECOND_NS
    first = pl.col("_watts") * seconds
    curved = first + (pl.col("_energy") - first / part) * part**2
    inside = pl.when(since > 0).then(curved).otherwise(0.0)
    used = {
        "energy_j": pl.col("energy_j") + inside,
        "measured_ns": pl.col("measured_ns") + part * pl.col("_measured"),
    }
    told = pl.concat(ends).with_columns(
        (value.fill_null(0) * pl.col("sign")).alias(name)
        for name, value in used.items()
    )
    return told.group_by(_GROUP).agg(pl.col(_SUMMED).sum())
