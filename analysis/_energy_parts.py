"""The energy of each device in each attempt, by its samples."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_chunks import chunks, devices_of, samples_of
from analysis._energy_held import within
from analysis._energy_measure import integrate
from analysis._energy_run import RunEnergy
from ingest.tables import PowerSamples

_ATTEMPT: Final = ("run_id", "attempt")


def sampled_parts(
    frames: Frames, run: RunEnergy, levels: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the energy of each device in each attempt, a lot of devices at a time.

    Args:
        frames: Samples of power.
        run: What energy is held against.
        levels: Levels to measure, looked at together.
    """
    samples = frames[PowerSamples]
    of_level = samples.filter(PowerSamples.level.col.is_in(levels))
    devices = devices_of(of_level, run.holdings.gpus)
    fleet = run.holdings.fleet(devices)
    for some in run.holdings.lots(devices):
        held = run.held(fleet, some, levels[0] if len(levels) == 1 else "gpu_board")
        labels = labels_of(held)
        for chunk in chunks(some.join(held, on="device", how="semi").sort("device")):
            read = samples_of(of_level, chunk)
            mine = held.join(chunk.select("device"), on="device", how="semi")
            measured = integrate(read, windows_of(mine, labels), run.bridges)
            productive = integrate(
                read, windows_of(within(mine, run.kept), labels), run.bridges
            )
            yield of_devices(measured, productive, levels).join(labels, on="window")


def labels_of(held: pl.DataFrame) -> pl.DataFrame:
    """Return a number, `window`, for each attempt.

    Args:
        held: `run_id` and `attempt`.
    """
    attempts = held.select(_ATTEMPT).unique().sort(_ATTEMPT)
    return attempts.with_row_index("window").with_columns(
        pl.col("window").cast(pl.Int64)
    )


def windows_of(held: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Return the windows of attempts, by their number.

    Args:
        held: Rows of `held_gpus`.
        labels: Rows of `labels_of`.
    """
    return held.join(labels, on=_ATTEMPT, maintain_order="left").drop(_ATTEMPT)


def of_devices(
    measured: pl.DataFrame, productive: pl.DataFrame, levels: Sequence[str]
) -> pl.DataFrame:
    """Return what is added up of each device and attempt.

    Args:
        measured: Rows of `integrate`.
        productive: The same of the time in kept steps.
        levels: Levels that were measured.
    """
    in_steps = productive.select(
        "device",
        "window",
        productive_j="energy_j",
        productive_measured_ns="measured_ns",
    )
    is_module = pl.col("is_module").fill_null(value=False)
    level = pl.when(is_module).then(pl.lit("module")).otherwise(pl.lit(levels[0]))
    return measured.join(in_steps, on=["device", "window"], how="left").select(
        "device",
        "window",
        "energy_j",
        timed_j=pl.when(pl.col("method") != "none").then(
            pl.col("energy_j") - pl.col("credit_j")
        ),
        measured_ns=pl.when(pl.col("method") != "none").then("measured_ns"),
        productive_j="productive_j",
        productive_measured_ns="productive_measured_ns",
        peak_w="peak_w",
        quality="quality",
        level=level,
    )
