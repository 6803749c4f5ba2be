"""How much electric energy each run took on each GPU."""

from collections.abc import Iterator
from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_measure import METHODS, integrate
from analysis._energy_segments import Bridges
from analysis._energy_windows import DEVICE, free_windows, held_windows
from analysis.allocations import Allocations
from analysis.gpus import Gpus
from ingest.tables import PowerSamples, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Longest silence that is bridged at any rate of sampling: samples of a second that
#: come late or of which two are lost (InferenceX allows the same at 1 Hz).
GAP_FLOOR_S: Final = 3.0

#: Longest silence that is bridged, in sampling intervals of the device: a scrape every
#: 30 s is no gap, four of them lost in a row are.
GAP_INTERVALS: Final = 5.0

#: Longest silence that is bridged at all: after five minutes without a sample
#: Prometheus, too, holds a series for ended. The spacing of two or three samples tells
#: no sampling interval: they may be of different months. A counter of energy saw what
#: lies between its reads, and is read across.
GAP_CEILING_S: Final = 300.0

#: Samples that are worked on at once: about a gigabyte with all that is derived.
CHUNK_SAMPLES: Final = 1_000_000

#: Levels that are power of one GPU. The rest (nodes, racks) would count it again.
LEVELS: Final = ("gpu_board", "module")


class Energy(Table):
    """One row per run, host and GPU; the run is null where no run held it."""

    key: ClassVar = ("run_id", "cluster", "host", "gpu_uuid")

    run_id = c.identifier("Run that held the GPU.", nullable=True)
    cluster = c.identifier("Cluster of the GPU.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    from_ns = c.time_ns("Start of the time held; of the samples where nobody held it.")
    to_ns = c.time_ns("End of the time held; of the samples where nobody held it.")
    energy_j = c.quantity("Energy measured in the time held.", "J", nullable=True)
    method = c.choice("How it was measured.", (*METHODS, "none"))
    coverage_ratio = c.ratio("Share of the time held that was measured.")
    mean_w = c.watts("Energy over the time measured.", nullable=True)
    peak_w = c.watts("Greatest power sampled.", nullable=True)
    samples_count = c.count("Samples used.")
    quality = c.text(
        "Reasons for doubt, separated by commas; empty where there are none."
    )


def measure_energy(frames: Frames, thresholds: Thresholds) -> Results:
    """Measure the energy of every sampled GPU, by the run that held it."""
    bridges = Bridges(
        floor_ns=round(thresholds["energy_gap_floor_s"] * SECOND_NS),
        intervals=thresholds["energy_gap_intervals"],
        ceiling_ns=round(thresholds["energy_gap_ceiling_s"] * SECOND_NS),
    )
    samples = frames[PowerSamples].filter(PowerSamples.level.col.is_in(LEVELS))
    devices = _devices(samples)
    held = held_windows(frames[Allocations].collect(), frames[Gpus].collect(), devices)
    windows = pl.concat(
        [held.filter("counts").drop("counts"), free_windows(held, devices)]
    )
    parts: list[pl.DataFrame] = [Energy.create_empty()]
    for chunk in _chunks(devices):
        numbered = samples.join(
            chunk.select(*DEVICE, "device").lazy(), on=DEVICE, nulls_equal=True
        )
        wanted = windows.join(chunk, on="device", how="semi")
        measured = integrate(numbered.collect(), wanted, bridges)
        named = measured.rename({"window": "run_id"}).join(chunk, on="device")
        parts.append(named.select(Energy.column_names()))
    return {Energy: pl.concat(parts).sort(Energy.key)}


def _devices(samples: pl.LazyFrame) -> pl.DataFrame:
    """Return the devices with a number, the span and the number of their samples."""
    spans = samples.group_by(DEVICE).agg(
        first_ns=PowerSamples.time_ns.col.min(),
        last_ns=PowerSamples.time_ns.col.max(),
        samples=pl.len().cast(pl.Int64),
    )
    ordered = spans.collect().sort(DEVICE)
    return ordered.with_columns(device=pl.int_range(pl.len(), dtype=pl.Int64))


def _chunks(devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield devices in lots that fit into memory; a device is never split."""
    before = pl.col("samples").cum_sum() - pl.col("samples")
    lots = devices.with_columns(_lot=before // CHUNK_SAMPLES)
    for lot in lots.partition_by("_lot", maintain_order=True):
        yield lot.drop("_lot")


ANALYSIS: Final = Analysis(
    name="energy",
    version=2,
    describes="How much electric energy each run took on each GPU.",
    inputs=(PowerSamples, Allocations, Gpus),
    outputs=(Energy,),
    compute=measure_energy,
    thresholds={
        "energy_gap_floor_s": GAP_FLOOR_S,
        "energy_gap_intervals": GAP_INTERVALS,
        "energy_gap_ceiling_s": GAP_CEILING_S,
    },
)
