"""Rows of power from the cells of any tool, by the names of _power.fields."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import polars as pl

from ingest.sources._lines import refuse_all
from ingest.sources._power.address import MASKED, PATTERN, PREFIX
from ingest.sources._power.fields import (
    ADDRESS,
    HOST,
    IDENTITY,
    INDEX,
    MODULE,
    UUID,
    columns,
    measures,
    numbers,
    of_module,
)
from ingest.sources._power.names import host_of, owned
from ingest.sources._power.smi_cells import known
from ingest.sources._source import Batch, Reading
from ingest.tables import PowerSamples
from ingest.times import naive_to_ns

TIME_NS: Final = PowerSamples.time_ns.name
QUALITY: Final = PowerSamples.time_quality.name

#: Rule of a record whose time is not told.
NO_TIME: Final = f"{TIME_NS}|required"

_STAMP: Final = (
    r"^20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?$"
)
_FORMAT: Final = "%Y-%m-%d %H:%M:%S%.f"
_MOMENT: Final = ("place", "line", "rule", TIME_NS, QUALITY)


def stamped(stamp: pl.Expr, reading: Reading) -> list[pl.Expr]:
    """Return time and its quality of local stamps; the time is null where one is none.

    Args:
        stamp: Stamps such as 2023/07/14 10:12:46.483 or 2023-07-14T10:12:46.
        reading: What tells the zone.
    """
    plain = stamp.str.replace_all("/", "-", literal=True)
    plain = plain.str.replace("T", " ", literal=True)
    whole = pl.when(plain.str.contains(_STAMP)).then(plain)
    return placed(whole.str.to_datetime(_FORMAT, strict=False, time_unit="ns"), reading)


def placed(naive: pl.Expr, reading: Reading) -> list[pl.Expr]:
    """Return time and its quality of naive stamps."""
    quality = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    return [
        naive_to_ns(naive, reading.zone).alias(TIME_NS),
        pl.lit(quality).alias(QUALITY),
    ]


def samples(
    cells: pl.DataFrame,
    units: Mapping[str, str],
    reading: Reading,
    level: str = "gpu_board",
) -> pl.DataFrame:
    """Return rows of PowerSamples, with `place`, `line` and the `rule` they break.

    A record with values of the module makes a row of that level beside the GPU's.

    Args:
        cells: Columns `place`, `line`, `rule`, the time, its quality and the fields.
        units: Unit in the header of each field, by name.
        reading: What is read.
        level: What was measured.
    """
    absent = [name for name in IDENTITY if name not in units]
    told = cells.select(
        *_MOMENT,
        *[pl.lit(None, pl.String).alias(name) for name in absent],
        *[known(pl.col(name)).alias(name) for name in units],
    )
    found = _rows(told, units, reading, level)
    module = {name: units[MODULE + name] for name in of_module(units)}
    if module:
        own = told.filter(pl.col("rule").is_null(), pl.col(TIME_NS).is_not_null())
        own = own.filter(
            pl.any_horizontal(pl.col(MODULE + name).is_not_null() for name in module)
        )
        named = own.select(
            *_MOMENT, *IDENTITY, *[pl.col(MODULE + name).alias(name) for name in module]
        )
        rows = _rows(named, module, reading, "module")
        found = pl.concat([found, rows], how="diagonal")
    return found


def batch(
    found: pl.DataFrame,
    records: int,
    *,
    zone_used: bool = False,
    hints: Mapping[str, str] = MappingProxyType({}),
) -> Batch:
    """Return the batch of what `samples` found.

    Args:
        found: Rows, with the rule of those that are refused.
        records: Records that were seen for them.
        zone_used: Whether their times needed the zone.
        hints: What to say of a refusal, by its rule.
    """
    is_good = pl.col("rule").is_null()
    rows = found.filter(is_good).drop("line", "rule")
    refused = refuse_all(PowerSamples, found.filter(~is_good))
    return Batch(
        rows={} if rows.is_empty() else {PowerSamples: rows},
        refused=tuple(replace(one, hint=hints.get(one.rule)) for one in refused),
        records=records,
        zone_used=zone_used and not rows.is_empty(),
    )


def _rows(
    told: pl.DataFrame, units: Mapping[str, str], reading: Reading, level: str
) -> pl.DataFrame:
    filled = columns(units)
    broken = {TIME_NS: pl.col(TIME_NS).is_null()}
    broken |= {name: is_broken for name, (_, is_broken) in filled.items()}
    rules = [
        pl.when(is_broken).then(pl.lit(f"{name}|value"))
        for name, is_broken in broken.items()
    ]
    return told.with_columns(*numbers(units)).select(
        "place",
        "line",
        pl.coalesce("rule", *rules).alias("rule"),
        pl.lit(reading.cluster).alias(PowerSamples.cluster.name),
        _host(reading).alias(PowerSamples.host.name),
        _gpu(reading).alias(PowerSamples.gpu_uuid.name),
        pl.lit(level).alias(PowerSamples.level.name),
        TIME_NS,
        QUALITY,
        *(value.alias(name) for name, (value, _) in filled.items()),
    )


def _host(reading: Reading) -> pl.Expr:
    return pl.coalesce(pl.col(HOST), pl.lit(host_of(reading.name), pl.String))


def _gpu(reading: Reading) -> pl.Expr:
    address = pl.col(ADDRESS).str.to_lowercase().str.extract(PATTERN)
    best = pl.coalesce(
        pl.when(~pl.col(UUID).str.contains(MASKED)).then(UUID),
        pl.concat_str(pl.lit(PREFIX), address),
        pl.concat_str(pl.lit("index:"), INDEX),
    )
    return owned(best, _host(reading), reading)


def any_measured(units: Mapping[str, str]) -> pl.Expr:
    """Return whether a record has a value that fills a column."""
    return pl.any_horizontal(
        known(pl.col(name)).is_not_null() for name in units if measures([name])
    )
