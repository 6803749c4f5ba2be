"""What power telemetry says of the GPUs of slow things, beside the others."""

from typing import Final

import polars as pl

from analysis._energy_names import OF_FILE, identity, is_global
from analysis._energy_segments import LEAST_LIMIT_W
from analysis._host_names import HOST, host_names, spelled_alike
from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_things import RANK
from ingest.phrases import phrase
from ingest.tables import PowerSamples

#: Bits of the reasons for a lowered clock, as NVML and DCGM number them.
POWER_CAP_BIT: Final = 0x4
BRAKE_BIT: Final = 0x80
THERMAL_BITS: Final = 0x8 | 0x20 | 0x40

#: Bit of a GPU that has nothing to do.
IDLE_BIT: Final = 0x1

#: What is told of a GPU over a span of time; a share is of its samples or of the time.
#: All but counters, limits and utilization are of samples under load.
STATISTICS: Final = (
    "power_counter",
    "thermal_counter",
    "power_bits",
    "brake_bits",
    "thermal_bits",
    "clock_mhz",
    "clock_median_mhz",
    "limit_w",
    "at_limit",
    "power_w",
    "utilization",
)

_UNIQUE: Final = r"(?i)^(GPU|MIG)-"
_BUS: Final = r"([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"


def gpu_keys(seats: pl.DataFrame) -> pl.DataFrame:
    """Return each seat once for every name that power telemetry may know its GPU by.

    Returns:
        Columns of RANK, `key` and `at`: the host that the key is unique in, null for a
        UUID.
    """
    bus = pl.col("pci_address").str.to_lowercase().str.extract(_BUS)
    names = (
        identity("gpu_uuid"),
        phrase("pci:{}", bus),
        phrase("index:{}", "local_rank"),
    )
    keyed = pl.concat([seats.select(*RANK, "host", key=name) for name in names])
    is_unique = pl.col("key").str.contains(_UNIQUE) | is_global("key")
    named = keyed.filter(pl.col("key").is_not_null())
    return named.select(*RANK, "key", at=pl.when(~is_unique).then("host"))


def power_of(
    samples: pl.LazyFrame,
    spans: pl.DataFrame,
    owner: str,
    limits: CauseLimits | None = None,
) -> pl.DataFrame:
    """Return what the samples in each owner's spans say of its GPUs.

    Nodes are sampled at other rates, and beyond their work: samples without load would
    make one node's clocks and power look lower than another's.

    Args:
        samples: Rows of PowerSamples.
        spans: Columns `key`, `at`, `from_ns`, `to_ns`, RANK and the owner.
        owner: Column of whom the statistics are for.
        limits: When a GPU is under load, and at its limit.

    Returns:
        The owner, RANK, STATISTICS, which are null where nothing was measured, and
        `power_rows`.
    """
    time = PowerSamples.time_ns.col
    near = time.is_between(spans["from_ns"].min(), spans["to_ns"].max())
    # a module is told beside its board, and has a limit of its own
    of_gpus = PowerSamples.level.col == "gpu_board"
    key = PowerSamples.gpu_uuid.col.str.replace(OF_FILE, "")
    bus = phrase("pci:{}", key.str.to_lowercase().str.extract(_BUS))
    alike = _spelled_as(spans, samples.filter(near & of_gpus))
    named = alike.with_columns(
        key=pl.when(key.str.starts_with("pci:"))
        .then(bus)
        .when(is_global("gpu_uuid"))
        .then(identity("gpu_uuid"))
        .otherwise(key),
        at=pl.when(~(key.str.contains(_UNIQUE) | is_global("gpu_uuid"))).then("host"),
    )
    found = named.join(spans.lazy(), on=["key", "at"], nulls_equal=True)
    inside = found.filter(time.is_between(pl.col("from_ns"), pl.col("to_ns")))
    return (
        inside.group_by(owner, *(c for c in RANK if c != owner))
        .agg(**_statistics(limits or CauseLimits()))
        .collect(engine="streaming")
    )


def _spelled_as(spans: pl.DataFrame, samples: pl.LazyFrame) -> pl.LazyFrame:
    """Return samples with the hosts of the seats, however their source spells them."""
    seen = samples.select(HOST).unique().collect(engine="streaming")
    at = spans.lazy().select(host="at").drop_nulls()
    # a seat tells no cluster: its host is looked for in each
    ours = at.join(seen.lazy().select("cluster").unique(), how="cross")
    names = host_names([ours, seen.lazy()])
    return spelled_alike(samples, names)


def _statistics(limits: CauseLimits) -> dict[str, pl.Expr]:
    power, limit = _power(), _limit()
    clock = PowerSamples.sm_clock_mhz.col
    # a source that gives each metric alone has the limit in other rows
    at_limit = power >= limits.at_limit_ratio * limit.fill_null(limit.mean())
    under_load = _under_load(limits.loaded_share)

    def typical(value: pl.Expr) -> pl.Expr:
        """Return a mean under load; of a GPU that never is, over all samples."""
        known = value.cast(pl.Float64)
        return pl.coalesce(known.filter(under_load).mean(), known.mean())

    median = pl.coalesce(clock.filter(under_load).median(), clock.median())
    return {
        "power_counter": _risen(PowerSamples.throttle_power_ns.col),
        "thermal_counter": _risen(PowerSamples.throttle_thermal_ns.col),
        "power_bits": typical(_has(POWER_CAP_BIT)),
        "brake_bits": typical(_has(BRAKE_BIT)),
        "thermal_bits": typical(_has(THERMAL_BITS)),
        "clock_mhz": typical(clock),
        "clock_median_mhz": median,
        "limit_w": limit.mean(),
        "at_limit": typical(at_limit),
        "power_w": typical(power),
        "utilization": PowerSamples.utilization_ratio.col.mean(),
        "power_rows": pl.len().cast(pl.Int64),
    }


def _power() -> pl.Expr:
    """Return the power of a sample. [W]"""
    average, instant = PowerSamples.power_average_w, PowerSamples.power_instant_w
    return pl.coalesce(average.col, instant.col)


def _limit() -> pl.Expr:
    """Return the limit in force; a driver that knows none says zero. [W]"""
    told = PowerSamples.power_limit_w.col
    return pl.when(told >= LEAST_LIMIT_W).then(told)


def _has(mask: int) -> pl.Expr:
    return (PowerSamples.throttle_reasons.col & mask) != 0


def _under_load(share: float) -> pl.Expr:
    """Return whether a GPU works: by its utilization, else its reasons, else its power.

    A sample that tells none of them counts: spans are of steps, in which GPUs work.
    """
    return pl.coalesce(
        PowerSamples.utilization_ratio.col >= share,
        ~_has(IDLE_BIT),
        _power() >= share * _limit(),
        pl.lit(value=True),
    )


def _risen(counter: pl.Expr) -> pl.Expr:
    time = PowerSamples.time_ns.col
    length = time.max() - time.min()
    return pl.when(length > 0).then((counter.max() - counter.min()) / length)
