"""Energy of all devices of a run added up, by attempt and level of measurement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_chunks import chunks, devices_of, samples_of
from analysis._energy_held import held_gpus, held_nodes, within
from analysis._energy_measure import integrate
from analysis._energy_quality import MEANINGS
from analysis._energy_segments import Bridges
from analysis._energy_steps import kept_spans, step_windows
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.tables import PowerSamples, StepTimings

_ATTEMPT: Final = ("run_id", "attempt")

_KEY: Final = (*_ATTEMPT, "level")

#: Level of the supply of a node; the others are of GPUs.
NODE: Final = "node_ac"


@dataclass(frozen=True, slots=True)
class RunEnergy:
    """What energy is held against.

    Attributes:
        allocations: Rows of Allocations.
        gpus: Rows of Gpus.
        attempts: Rows of Attempts.
        kept: Spans of kept steps, as `kept_spans` gives them.
        bridges: Which silences are bridged.
    """

    allocations: pl.DataFrame
    gpus: pl.DataFrame
    attempts: pl.DataFrame
    kept: pl.DataFrame
    bridges: Bridges

    @classmethod
    def of(cls, frames: Frames, bridges: Bridges) -> Self:
        """Take what is held against energy from the lake."""
        steps = step_windows(frames[StepTimings], frames[Attempts])
        return cls(
            frames[Allocations].collect(),
            frames[Gpus].collect(),
            frames[Attempts].collect(),
            kept_spans(steps),
            bridges,
        )

    def held(self, devices: pl.DataFrame, level: str) -> pl.DataFrame:
        """Return when attempts held devices of a level."""
        if level == NODE:
            return held_nodes(self.allocations, self.gpus, devices)
        return held_gpus(self.allocations, self.gpus, self.attempts, devices)


def measure_runs(
    samples: pl.LazyFrame, run: RunEnergy, levels: Sequence[str]
) -> pl.DataFrame:
    """Add up the energy of the devices of runs and attempts.

    Args:
        samples: Rows of PowerSamples.
        run: What it is held against.
        levels: Levels to measure; those of GPUs are looked at together.

    Returns:
        A row for each run, attempt (null: all of them) and level with `energy_j`,
        `timed_j` (in measured time), `measured_ns`, `devices_count`, `productive_j`,
        `productive_measured_ns`, `peak_w`, `quality` and `levels`.
    """
    of_gpus = [level for level in levels if level != NODE]
    parts = [*_parts(samples, run, of_gpus), *_parts(samples, run, [NODE])]
    if not parts:
        return pl.DataFrame(schema=_EMPTY)
    every = pl.concat(parts)
    whole = every.with_columns(attempt=pl.lit(None, pl.Int32))
    rows = pl.concat([every, whole])
    return _summed(rows)


_EMPTY: Final = {
    "run_id": pl.String(),
    "attempt": pl.Int32(),
    "level": pl.String(),
    "energy_j": pl.Float64(),
    "timed_j": pl.Float64(),
    "measured_ns": pl.Int64(),
    "devices_count": pl.Int64(),
    "productive_j": pl.Float64(),
    "productive_measured_ns": pl.Int64(),
    "peak_w": pl.Float64(),
    "quality": pl.String(),
    "levels": pl.Int64(),
}


def _parts(
    samples: pl.LazyFrame, run: RunEnergy, levels: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the energy of each device in each attempt, a lot of devices at a time."""
    of_level = samples.filter(PowerSamples.level.col.is_in(levels))
    devices = devices_of(of_level, run.gpus)
    held = run.held(devices, levels[0] if len(levels) == 1 else "gpu_board")
    labels = held.select(_ATTEMPT).unique().sort(_ATTEMPT).with_row_index("window")
    labels = labels.with_columns(pl.col("window").cast(pl.Int64))
    for chunk in chunks(devices.join(held, on="device", how="semi").sort("device")):
        read = samples_of(of_level, chunk)
        mine = held.join(chunk.select("device"), on="device", how="semi")
        measured = integrate(read, _windows(mine, labels), run.bridges)
        productive = integrate(
            read, _windows(within(mine, run.kept), labels), run.bridges
        )
        yield _of_devices(measured, productive, levels).join(labels, on="window")


def _windows(held: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    return held.join(labels, on=_ATTEMPT, maintain_order="left").drop(_ATTEMPT)


def _of_devices(
    measured: pl.DataFrame, productive: pl.DataFrame, levels: Sequence[str]
) -> pl.DataFrame:
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


def _summed(rows: pl.DataFrame) -> pl.DataFrame:
    """Add devices up in their order: sums of floats depend on it."""
    known = pl.col("energy_j").is_not_null()
    ordered = rows.sort(*_KEY, "device", "window")
    sums = ordered.group_by(_KEY, maintain_order=True).agg(
        energy_j=pl.when(known.any()).then(pl.col("energy_j").sum()),
        timed_j=pl.col("timed_j").sum(),
        measured_ns=pl.col("measured_ns").sum(),
        devices_count=pl.col("device").filter(known).n_unique().cast(pl.Int64),
        productive_j=pl.when(pl.col("productive_j").is_not_null().any()).then(
            pl.col("productive_j").sum()
        ),
        productive_measured_ns=pl.col("productive_measured_ns").sum(),
        peak_w=pl.col("peak_w").max(),
        quality=pl.col("quality").str.split(",").explode().unique(),
    )
    of_gpus = pl.when(pl.col("level") != NODE).then("level")
    return sums.with_columns(
        quality=_in_order(),
        levels=of_gpus.n_unique().over(*_ATTEMPT).cast(pl.Int64)
        - (of_gpus.null_count().over(*_ATTEMPT) > 0).cast(pl.Int64),
    )


def _in_order() -> pl.Expr:
    """Return the reasons of all devices, each once, in the order they are told in."""
    told = [
        pl.when(pl.col("quality").list.contains(name)).then(pl.lit(name))
        for name in MEANINGS
    ]
    joined = pl.concat_str(told, separator=",", ignore_nulls=True)
    return pl.when(joined != "").then(joined)
