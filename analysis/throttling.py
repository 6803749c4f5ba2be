"""How long each GPU was slowed, what for, and what that cost."""

from collections.abc import Iterator
from typing import ClassVar, Final, NamedTuple

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_bridges import THRESHOLDS, Bridges, bridges_of
from analysis._energy_chunks import chunks, devices_of, samples_of
from analysis._energy_holdings import Holdings
from analysis._power_rolled import Condensed
from analysis._power_rolled_slowed import OF_SLOWED, slowed_hours
from analysis._straggler_cause_limits import BUSY, LITTLE_POWER, MORE_OFTEN
from analysis._throttle_links import stragglers_of
from analysis._throttle_times import CAUSES, Drawn, throttled
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from analysis.stragglers import StragglerRanks
from ingest.tables import PowerSamples, Table
from ingest.tables import _columns as c


class Throttling(Table):
    """One row per run, GPU and cause: how long it was slowed for it."""

    key: ClassVar = ("run_id", "cluster", "host", "gpu_uuid", "cause")

    run_id = c.identifier("Run that held the GPU.")
    cluster = c.identifier("Cluster of the GPU.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    cause = c.choice(
        "What it was slowed for; `hardware_slowdown` is of heat, of the supply, or of"
        " neither.",
        tuple(CAUSES),
    )
    basis = c.choice(
        "Counters of time, or bits of samples, each taken to hold until the next.",
        ("counter", "bits"),
    )
    throttled_ns = c.duration_ns("Time slowed.")
    observed_ns = c.duration_ns("Time in which that would have been seen.")
    throttled_ratio = c.ratio("Share of the time observed.", nullable=True)
    mean_clock_mhz = c.quantity(
        "Mean clock of the multiprocessors under load.", "MHz", nullable=True
    )
    mean_w = c.watts("Mean power under load.", nullable=True)
    utilization_ratio = c.ratio("Mean utilization.", nullable=True)
    is_victim = c.flag(
        "Whether it was busy, drew little and was slowed for nothing: it waited for"
        " others. Null where power or utilization is not known.",
        nullable=True,
    )
    is_straggler = c.flag("Whether it was flagged as slow for this cause.")
    slowdown_ratio = c.ratio(
        "Its own work over its peers', the worst of its slow spells.", nullable=True
    )
    lost_gpu_ns = c.gpu_time_ns(
        "GPU time that its slow spells for this cause cost all ranks.", nullable=True
    )


def measure_throttling(frames: Frames, thresholds: Thresholds) -> Results:
    """Measure how long each GPU of each run was slowed."""
    holdings = Holdings.of(frames, frames[Attempts].collect())
    bridges = bridges_of(thresholds)
    parts = [
        *_of_samples(frames, holdings, bridges),
        *_of_hours(frames, holdings, bridges),
    ]
    if not parts:
        return {Throttling: Throttling.create_empty()}
    devices = pl.concat([part.devices for part in parts])
    found = Drawn(
        pl.concat([part.drawn.times for part in parts]),
        pl.concat([part.drawn.loads for part in parts]),
    )
    named = _with_victims(found, thresholds).join(devices, on="device")
    slow = stragglers_of(frames[StragglerRanks].collect(), frames[Gpus], devices)
    told = named.join(slow, on=["run_id", "device", "cause"], how="left").with_columns(
        is_straggler=pl.col("slowdown_ratio").is_not_null()
    )
    rows = told.select(Throttling.column_names()).sort(Throttling.key)
    return {Throttling: Throttling.validate(rows, cast=True)}


class _Part(NamedTuple):
    """Some devices, and how long they were slowed."""

    devices: pl.DataFrame
    drawn: Drawn


def _of_samples(
    frames: Frames, holdings: Holdings, bridges: Bridges
) -> Iterator[_Part]:
    """Yield devices whose samples are there."""
    samples = frames[PowerSamples].filter(PowerSamples.level.col == "gpu_board")
    devices = devices_of(samples, holdings.gpus)
    fleet = holdings.fleet(devices)
    for some in holdings.lots(devices):
        held = holdings.of_gpus(fleet, some)
        mine = some.join(held, on="device", how="semi").sort("device")
        for chunk in chunks(mine):
            yield _Part(chunk, throttled(samples_of(samples, chunk), held, bridges))


def _of_hours(frames: Frames, holdings: Holdings, bridges: Bridges) -> Iterator[_Part]:
    """Yield devices whose samples were condensed, under numbers of their own."""
    condensed = Condensed.of(frames, holdings.gpus, ["gpu_board"], OF_SLOWED)
    fleet = holdings.fleet(condensed.devices)
    for some in holdings.lots(condensed.devices):
        held = holdings.of_gpus(fleet, some)
        for lot in condensed.lots(some, held):
            drawn = slowed_hours(lot, held, bridges)
            yield _Part(_apart(lot.devices), Drawn(*(_apart(rows) for rows in drawn)))


def _apart(rows: pl.DataFrame) -> pl.DataFrame:
    """Number devices below zero, where no other is."""
    return rows.with_columns(device=-1 - pl.col("device"))


def _with_victims(found: Drawn, thresholds: Thresholds) -> pl.DataFrame:
    """Say which GPUs waited: busy, with little power, and slowed for nothing."""
    usual = pl.col("mean_w").median().over("run_id")
    loads = found.loads.with_columns(
        _waits=(pl.col("mean_w") < thresholds["victim_power_ratio"] * usual)
        & (pl.col("utilization_ratio") >= thresholds["victim_busy_ratio"])
    )
    is_free = (
        (pl.col("throttled_ratio").fill_null(0.0) <= thresholds["throttled_ratio"])
        .all()
        .over("run_id", "device")
    )
    joined = found.times.join(loads, on=["run_id", "device"], how="left")
    return joined.with_columns(is_victim=pl.col("_waits") & is_free)


#: Share of its time from which a GPU counts as slowed: under one power limit all touch
#: it now and then. [1]
THROTTLED_RATIO: Final = MORE_OFTEN

ANALYSIS: Final = Analysis(
    name="throttling",
    version=3,
    describes="How long each GPU was slowed, what for, and what that cost",
    inputs=(
        PowerSamples,
        PowerHours,
        PowerDays,
        Allocations,
        Gpus,
        Attempts,
        StragglerRanks,
    ),
    needs=(PowerSamples, PowerHours),
    outputs=(Throttling,),
    compute=measure_throttling,
    thresholds=THRESHOLDS
    | {
        "throttled_ratio": THROTTLED_RATIO,
        "victim_power_ratio": LITTLE_POWER,
        "victim_busy_ratio": BUSY,
    },
)
