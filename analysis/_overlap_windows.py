"""The windows of a device: one for each step, and one for what came before them."""

from typing import Final

import polars as pl

from ingest.tables import Kernels

#: Columns that tell one device of one trace from another.
DEVICE: Final = ("run_id", "attempt", "trace_id", "device")


def bounds_of_steps(kernels: pl.LazyFrame) -> pl.DataFrame:
    """Return the bounds, rows and rank of each device and step.

    Step is null for work whose launch is in no step, or not in the trace.
    """
    step = pl.when(Kernels.linked.col).then(Kernels.step.col)
    end = Kernels.start_ns.col + Kernels.duration_ns.col
    return (
        kernels.group_by(*DEVICE, step=step)
        .agg(
            first_ns=Kernels.start_ns.col.min(),
            last_start_ns=Kernels.start_ns.col.max(),
            last_ns=end.max(),
            rows=pl.len().cast(pl.Int64),
            rank=Kernels.rank.col.max(),
        )
        .collect(engine="streaming")
    )


def devices_of(steps: pl.DataFrame) -> pl.DataFrame:
    """Return the bounds, rows and rank of each device, numbered in order of DEVICE."""
    devices = steps.group_by(DEVICE).agg(
        pl.col("first_ns").min(),
        pl.col("last_start_ns").max(),
        pl.col("last_ns").max(),
        pl.col("rows").sum(),
        pl.col("rank").max(),
    )
    return devices.sort(DEVICE).with_row_index("number")


def windows_of(steps: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Return windows that tile each device's time from its first start to its last end.

    The window of a step reaches from its first start on the device to that of the
    step that follows on the device, the last one to the last end. Work before the
    first step has a window without a step, and so has a trace without any step.

    Returns:
        The device's `number`, `step`, `window` (its own number), `start_ns`, `end_ns`.
    """
    known = steps.filter(pl.col("step").is_not_null())
    begun = known.select(*DEVICE, "step", start_ns="first_ns")
    opening = devices.select(*DEVICE, step=pl.lit(None, pl.Int64), start_ns="first_ns")
    starts = pl.concat([opening, begun]).join(
        devices.select(*DEVICE, "number", "last_ns"), on=DEVICE, nulls_equal=True
    )
    following = pl.col("start_ns").shift(-1).over("number")
    tiled = starts.sort("number", "start_ns", "step").select(
        "number", "step", "start_ns", end_ns=following.fill_null(pl.col("last_ns"))
    )
    has_steps = pl.len().over("number") > 1
    is_empty = pl.col("step").is_null() & (pl.col("end_ns") == pl.col("start_ns"))
    return tiled.filter(~(is_empty & has_steps)).with_row_index("window")
