"""What sources of energy windows share: lengths of time, and rows out of lines."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import polars as pl

from ingest.sources._lines import refuse_all
from ingest.sources._power.names import host_of, owned
from ingest.sources._source import Batch, Reading
from ingest.tables import EnergyWindows

#: A length as Python prints floats: short ones have an exponent.
_LENGTH: Final = r"^([0-9]{1,9})(?:\.([0-9]{1,9})([0-9])?[0-9]*)?$"
_SHORT: Final = r"^[0-9](?:\.[0-9]+)?e-[0-9][0-9]$"


def length_ns(seconds: pl.Expr) -> pl.Expr:
    """Return a length in seconds, as text, rounded; null where it is none. [ns]"""
    parts = seconds.str.extract_groups(_LENGTH)
    digits = pl.coalesce(parts.struct[1], pl.lit("")).str.pad_end(9, "0")
    whole = pl.concat_str(parts.struct[0], digits).cast(pl.Int64, strict=False)
    exact = whole + (parts.struct[2] >= "5").fill_null(value=False).cast(pl.Int64)
    short = pl.when(seconds.str.contains(_SHORT)).then(seconds)
    tiny = (short.cast(pl.Float64, strict=False) * 1e9).round()
    return pl.coalesce(exact, tiny.cast(pl.Int64, strict=False))


def batch(
    told: pl.DataFrame,
    devices: Mapping[str, tuple[str, str]],
    reading: Reading,
    hints: Mapping[str, str],
    *,
    zone_used: bool = False,
) -> Batch:
    """Return a row for each device and line that breaks no rule.

    Args:
        told: Columns `place`, `line`, `rule`, `window`, `start_ns`, `boot_offset_ns`,
            `length_ns`, `time_quality`, and one of energy for each device. [mJ]
        devices: Level and identity of each device, by its column.
        reading: What is read.
        hints: What to say of a refusal, by its rule.
        zone_used: Whether the times needed the zone.
    """
    is_good = pl.col("rule").is_null()
    host = pl.lit(host_of(reading.name), pl.String)
    kept = ["place", "window", "start_ns", "boot_offset_ns", "time_quality"]
    energy = EnergyWindows.energy_mj.name
    frames = [
        told.filter(is_good).select(
            *kept,
            pl.col("length_ns").alias(EnergyWindows.duration_ns.name),
            (pl.col("start_ns") + pl.col("length_ns")).alias(EnergyWindows.end_ns.name),
            pl.lit(reading.cluster).alias(EnergyWindows.cluster.name),
            host.alias(EnergyWindows.host.name),
            owned(pl.lit(gpu), host, reading).alias(EnergyWindows.gpu_uuid.name),
            pl.lit(level).alias(EnergyWindows.level.name),
            pl.col(column).cast(pl.Int64).alias(energy),
        )
        for column, (level, gpu) in devices.items()
    ]
    rows = pl.concat(frames).drop_nulls(energy) if frames else pl.DataFrame()
    refused = refuse_all(EnergyWindows, told.filter(~is_good))
    return Batch(
        rows={} if rows.is_empty() else {EnergyWindows: rows},
        refused=tuple(replace(one, hint=hints.get(one.rule)) for one in refused),
        records=told.height,
        zone_used=zone_used and not rows.is_empty(),
    )
