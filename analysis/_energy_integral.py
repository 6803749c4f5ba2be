"""Energy of windows: the difference of what had been used by their two ends."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: What is summed up from the first sample of a device on.
_SUMMED: Final = (
    "energy_j",
    "credit_j",
    "measured_ns",
    "gap_ns",
    "jump_ns",
    "reset_ns",
)

_PIECE: Final = ("device", "window", "from_ns", "to_ns")


def integrate_segments(segments: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Sum segments up over windows, cutting them at the windows' edges.

    Args:
        segments: Columns of SEGMENT, sorted by device and time.
        windows: `device`, `window`, `from_ns` and `to_ns`; a window may have several
            pieces, which share no time.

    Returns:
        For each device and window: `energy_j`, `credit_j` (of resets, in no measured
        time), `measured_ns`, `gap_ns`, `jump_ns`, `reset_ns`, whether its edges lie
        inside the sampled time (`is_bracketed`), and the greatest power at an edge
        (`edge_w`).
    """
    state = _state(segments)
    edges = pl.concat(
        windows.select(*_PIECE, edge_ns=edge, is_end=pl.lit(value=edge == "to_ns"))
        for edge in ("from_ns", "to_ns")
    )
    used = _used_by(state, edges)
    pieces = used.filter(~pl.col("is_end")).join(
        used.filter("is_end"), on=_PIECE, suffix="_to", nulls_equal=True
    )
    bounds = segments.group_by("device").agg(
        first_ns=pl.col("time_ns").min(), end_ns=pl.col("time_ns").max()
    )
    between = [(pl.col(f"{name}_to") - pl.col(name)).alias(name) for name in _SUMMED]
    inside = (pl.col("from_ns") >= pl.col("first_ns")) & (
        pl.col("to_ns") <= pl.col("end_ns")
    )
    measured = pieces.join(bounds, on="device", how="left").with_columns(
        *between,
        is_bracketed=inside.fill_null(value=False),
        edge_w=pl.max_horizontal("edge_w", "edge_w_to"),
    )
    return measured.group_by("device", "window").agg(
        pl.col(_SUMMED).sum(),
        pl.col("is_bracketed").all(),
        pl.col("edge_w").max(),
    )


def _state(segments: pl.DataFrame) -> pl.DataFrame:
    """Return what a device had used by each of its samples."""
    length = pl.col("length_ns").fill_null(0)
    of_segment = {
        "energy_j": pl.col("energy_j").fill_null(0.0),
        "credit_j": pl.col("credit_j"),
        "measured_ns": pl.when("is_measured").then(length).otherwise(0),
        "gap_ns": pl.when("is_gap").then(length).otherwise(0),
        "jump_ns": pl.when("is_jump").then(length).otherwise(0),
        "reset_ns": pl.when("is_reset").then(length).otherwise(0),
    }
    before = [
        (value.cum_sum().over("device") - value).alias(name)
        for name, value in of_segment.items()
    ]
    flags = ("is_measured", "is_gap", "is_jump", "is_reset")
    return segments.select(
        "device", "time_ns", "length_ns", "watts", "slope", *flags, *before
    )


def _used_by(state: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Return what a device had used by an edge of a window; nothing before."""
    joined = edges.sort("edge_ns").join_asof(
        state.sort("time_ns"),
        left_on="edge_ns",
        right_on="time_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    since = pl.min_horizontal(pl.col("edge_ns") - pl.col("time_ns"), "length_ns")
    since = pl.when(pl.col("length_ns").is_not_null()).then(since).otherwise(0)
    joules = (pl.col("watts") + pl.col("slope") * since / 2) * since / SECOND_NS
    inside = {
        "energy_j": joules,
        "measured_ns": pl.when("is_measured").then(since).otherwise(0),
        "gap_ns": pl.when("is_gap").then(since).otherwise(0),
        "jump_ns": pl.when("is_jump").then(since).otherwise(0),
        "reset_ns": pl.when("is_reset").then(since).otherwise(0),
    }
    told = joined.with_columns(
        (pl.col(name) + value).alias(name) for name, value in inside.items()
    )
    power = pl.col("watts") + pl.col("slope") * since
    # segments may leave time between them
    is_inside = pl.col("edge_ns") - pl.col("time_ns") <= pl.col("length_ns")
    return told.select(
        *(*_PIECE, "is_end"),
        pl.col(_SUMMED).fill_null(0),
        edge_w=pl.when(pl.col("is_measured") & is_inside).then(power),
    )
