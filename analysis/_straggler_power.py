"""What power telemetry says of the GPUs of slow things, beside the others."""

from typing import Final

import polars as pl

from analysis._energy_windows import OF_FILE
from analysis._straggler_things import RANK
from ingest.phrases import phrase
from ingest.tables import PowerSamples

#: Bits of the reasons for a lowered clock, as NVML and DCGM number them.
POWER_CAP_BIT: Final = 0x4
BRAKE_BIT: Final = 0x80
THERMAL_BITS: Final = 0x8 | 0x20 | 0x40

#: Share of the limit from which a board counts as at its limit: sensors are good to
#: some 5 W of 700 W, and regulators keep a little below.
AT_LIMIT: Final = 0.98

#: What is told of a GPU over a span of time; a share is of its samples or of the time.
STATISTICS: Final = (
    "power_counter",
    "thermal_counter",
    "power_bits",
    "brake_bits",
    "thermal_bits",
    "clock_mhz",
    "limit_w",
    "at_limit",
    "power_w",
    "utilization",
)

_UNIQUE: Final = r"^(GPU|MIG)-"
_BUS: Final = r"([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"


def gpu_keys(seats: pl.DataFrame) -> pl.DataFrame:
    """Return each seat once for every name that power telemetry may know its GPU by.

    Returns:
        Columns of RANK, `key` and `at`: the host that the key is unique in, null for a
        UUID.
    """
    bus = pl.col("pci_address").str.to_lowercase().str.extract(_BUS)
    names = (
        pl.col("gpu_uuid"),
        phrase("pci:{}", bus),
        phrase("index:{}", "local_rank"),
    )
    keyed = pl.concat([seats.select(*RANK, "host", key=name) for name in names])
    is_unique = pl.col("key").str.contains(_UNIQUE)
    named = keyed.filter(pl.col("key").is_not_null())
    return named.select(*RANK, "key", at=pl.when(~is_unique).then("host"))


def power_of(samples: pl.LazyFrame, spans: pl.DataFrame, owner: str) -> pl.DataFrame:
    """Return what the samples in each owner's spans say of its GPUs.

    Args:
        samples: Rows of PowerSamples.
        spans: Columns `key`, `at`, `from_ns`, `to_ns`, RANK and the owner.
        owner: Column of whom the statistics are for.

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
    named = samples.filter(near & of_gpus).with_columns(
        key=pl.when(key.str.starts_with("pci:")).then(bus).otherwise(key),
        at=pl.when(~key.str.contains(_UNIQUE)).then("host"),
    )
    found = named.join(spans.lazy(), on=["key", "at"], nulls_equal=True)
    inside = found.filter(time.is_between(pl.col("from_ns"), pl.col("to_ns")))
    return (
        inside.group_by(owner, *(c for c in RANK if c != owner))
        .agg(**_statistics())
        .collect(engine="streaming")
    )


def _statistics() -> dict[str, pl.Expr]:
    time, bits = PowerSamples.time_ns.col, PowerSamples.throttle_reasons.col
    length = time.max() - time.min()

    def risen(counter: pl.Expr) -> pl.Expr:
        return pl.when(length > 0).then((counter.max() - counter.min()) / length)

    def share(mask: int) -> pl.Expr:
        return ((bits & mask) != 0).cast(pl.Float64).mean()

    power = pl.coalesce(
        PowerSamples.power_average_w.col, PowerSamples.power_instant_w.col
    )
    limit = PowerSamples.power_limit_w.col
    return {
        "power_counter": risen(PowerSamples.throttle_power_ns.col),
        "thermal_counter": risen(PowerSamples.throttle_thermal_ns.col),
        "power_bits": share(POWER_CAP_BIT),
        "brake_bits": share(BRAKE_BIT),
        "thermal_bits": share(THERMAL_BITS),
        "clock_mhz": PowerSamples.sm_clock_mhz.col.mean(),
        "limit_w": limit.mean(),
        # a source that gives each metric alone has the limit in other rows
        "at_limit": (power >= AT_LIMIT * limit.fill_null(limit.mean()))
        .cast(pl.Float64)
        .mean(),
        "power_w": power.mean(),
        "utilization": PowerSamples.utilization_ratio.col.mean(),
        "power_rows": pl.len().cast(pl.Int64),
    }
