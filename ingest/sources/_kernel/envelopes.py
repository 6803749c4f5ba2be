"""Time and node of a kernel message, from the text in front of it."""

from datetime import tzinfo
from typing import Final

import polars as pl

from ingest.sources._kernel.years import SYSLOG_START
from ingest.sources._source import Reading
from ingest.sources._stamps import fraction_ns, offset_ns
from ingest.times import SECOND_NS, naive_to_ns

#: ISO 8601: date, time, fraction after a point or a comma, offset. Years are those
#: whose nanoseconds fit 64 bits. `journalctl -o short-full` writes UTC as a word.
ISO_STAMP: Final = (
    r"((?:19[7-9]|20[0-9]|21[0-9])[0-9]-[0-9]{2}-[0-9]{2})[T ]"
    r"([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:[.,]([0-9]{1,9}))?(Z|[+-][0-9]{2}:?[0-9]{2}| UTC\b)?"
)

#: `journalctl -o short-unix`: seconds since 1970, node.
UNIX_START: Final = r"^([0-9]{9,10})\.([0-9]{6}) (\S+) "

#: `dmesg -T`: month, day, time and year of the node's own clock.
CTIME_STAMP: Final = (
    r"\[[0-9A-Za-z_]{3} ([0-9A-Za-z_]{3}) +([0-9]{1,2}) ([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r" ((?:19[7-9]|20[0-9]|21[0-9])[0-9])\]"
)

#: Seconds since boot: nine digits are 31 years.
BOOT_STAMP: Final = r"\[ *([0-9]{1,9})\.([0-9]{1,9})\]"

#: Record of /dev/kmsg: priority, number, microseconds since boot, flags.
KMSG_STAMP: Final = r"[0-9]{1,3},[0-9]{1,20},([0-9]{1,15}),[^;]{0,200};"

#: How long after a file was written a stamp of `dmesg -T` may seem to lie where the
#: zone is not known: zones reach 14 hours. [ns]
_ZONE_REACH_NS: Final = 14 * 3_600 * SECOND_NS

#: Node after the time of an ISO line (and the word for its zone), or before `kernel:`.
_ISO_HOST: Final = ISO_STAMP + r"(?: [A-Z]{3,5})? ([^\s:]+) "
_KERNEL_HOST: Final = r"([^\s:\]]+) kernel: "

#: Columns of stamps while they are read.
_STAMPS: Final = {
    "_iso": ISO_STAMP,
    "_syslog": SYSLOG_START,
    "_ctime": CTIME_STAMP,
    "_unix": UNIX_START,
}


def with_envelope(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Add `host`, `time_ns`, `boot_offset_ns`, `time_quality`, `naive` and `stamped`.

    `naive` tells whether the time needed the zone, `stamped` whether the envelope has a
    date, be it one that there is or not. Each stamp is looked for once.

    Args:
        lines: Columns `prefix` (text before the message) and `year` (of a syslog line).
        reading: What is known about the file.
    """
    prefix = pl.col("prefix").str
    found = lines.with_columns(
        boot_offset_ns().alias("boot_offset_ns"),
        **{name: prefix.extract_groups(text) for name, text in _STAMPS.items()},
    )
    zone = reading.zone
    times = found.with_columns(_iso_ns(), _unix_ns(), _ctime_ns(zone)).with_columns(
        pl.coalesce("_iso_ns", "_unix_ns").alias("_exact_ns"),
        pl.coalesce(_iso_local_ns(zone), _syslog_ns(zone), "_ctime_ns").alias(
            "_local_ns"
        ),
    )
    naive = pl.col("_exact_ns").is_null() & pl.col("_local_ns").is_not_null()
    return (
        times.with_columns(naive=naive)
        .with_columns(
            _host(),
            pl.coalesce("_exact_ns", "_local_ns").alias("time_ns"),
            _quality(reading).alias("time_quality"),
            pl.any_horizontal(_has(name) for name in _STAMPS).alias("stamped"),
        )
        .drop(*_STAMPS, "_iso_ns", "_unix_ns", "_ctime_ns", "_exact_ns", "_local_ns")
    )


def _has(stamp: str) -> pl.Expr:
    """Return whether the envelope has a stamp of some kind."""
    return pl.col(stamp).struct[0].is_not_null()


def _quality(reading: Reading) -> pl.Expr:
    """Return how the time is known, the best that holds.

    `dmesg -T` counts from boot and leaves out the time asleep: its stamps can lie
    after the file was written, and are then no better than times since boot.
    """
    naive = pl.col("naive")
    is_syslog = _has("_syslog") & ~_has("_iso")
    inferred = naive & is_syslog & pl.lit(reading.year is None)
    of_zone = pl.lit("zone_assumed" if reading.zone_basis == "assumed" else "exact")
    return (
        pl.when(pl.col("_exact_ns").is_not_null())
        .then(pl.lit("exact"))
        .when(inferred)
        .then(pl.lit("year_inferred"))
        .when(naive & ~_is_ahead(reading))
        .then(of_zone)
        .when(naive | pl.col("boot_offset_ns").is_not_null())
        .then(pl.lit("boot_relative"))
        .otherwise(pl.lit("unknown"))
    )


def _is_ahead(reading: Reading) -> pl.Expr:
    reach = _ZONE_REACH_NS if reading.zone_basis == "assumed" else SECOND_NS
    ahead = (pl.col("_ctime_ns") > reading.modified_ns + reach).fill_null(value=False)
    return ahead & pl.lit(reading.modified_ns > 0)


def host() -> pl.Expr:
    """Return the node that the envelope names, null where it names none."""
    prefix = pl.col("prefix").str
    return pl.coalesce(
        prefix.extract(SYSLOG_START, 5),
        prefix.extract(UNIX_START, 3),
        *_other_hosts(),
    ).alias("host")


def _host() -> pl.Expr:
    syslog, unix = pl.col("_syslog").struct[4], pl.col("_unix").struct[2]
    return pl.coalesce(syslog, unix, *_other_hosts()).alias("host")


def _other_hosts() -> list[pl.Expr]:
    text = pl.col("prefix").str
    return [text.extract(_ISO_HOST, 5), text.extract(_KERNEL_HOST)]


def boot_offset_ns() -> pl.Expr:
    """Return the time since the node started. [ns]"""
    boot = pl.col("prefix").str.extract_groups(BOOT_STAMP)
    seconds = boot.struct[0].cast(pl.Int64) * SECOND_NS + fraction_ns(boot.struct[1])
    micros = pl.col("prefix").str.extract(KMSG_STAMP).cast(pl.Int64)
    return pl.coalesce(seconds, micros * 1_000)


def _stamp(day: pl.Expr, time: pl.Expr, day_format: str) -> pl.Expr:
    text = pl.concat_str(day, time, separator=" ")
    return text.str.to_datetime(f"{day_format} %H:%M:%S", strict=False)


def _local_ns(
    day: pl.Expr, time: pl.Expr, fraction: pl.Expr, day_format: str, zone: tzinfo
) -> pl.Expr:
    return naive_to_ns(_stamp(day, time, day_format), zone) + fraction_ns(fraction)


def _iso_ns() -> pl.Expr:
    """Return the instant of an ISO stamp that has an offset. [ns]"""
    iso = pl.col("_iso")
    stamp = _stamp(iso.struct[0], iso.struct[1], "%Y-%m-%d").dt.epoch("ns")
    instant = stamp + fraction_ns(iso.struct[2]) - offset_ns(iso.struct[3])
    return instant.alias("_iso_ns")


def _iso_local_ns(zone: tzinfo) -> pl.Expr:
    iso = pl.col("_iso")
    return _local_ns(iso.struct[0], iso.struct[1], iso.struct[2], "%Y-%m-%d", zone)


def _unix_ns() -> pl.Expr:
    """Return the instant of a stamp of seconds since 1970. [ns]"""
    unix = pl.col("_unix")
    seconds = unix.struct[0].cast(pl.Int64) * SECOND_NS
    return (seconds + fraction_ns(unix.struct[1])).alias("_unix_ns")


def _syslog_ns(zone: tzinfo) -> pl.Expr:
    parts = pl.col("_syslog")
    day = pl.concat_str("year", parts.struct[0], parts.struct[1], separator=" ")
    return _local_ns(day, parts.struct[2], parts.struct[3], "%Y %b %d", zone)


def _ctime_ns(zone: tzinfo) -> pl.Expr:
    parts = pl.col("_ctime")
    day = pl.concat_str(
        parts.struct[3], parts.struct[0], parts.struct[1], separator=" "
    )
    no_fraction = pl.lit(None, pl.String)
    local = _local_ns(day, parts.struct[2], no_fraction, "%Y %b %d", zone)
    return local.alias("_ctime_ns")
