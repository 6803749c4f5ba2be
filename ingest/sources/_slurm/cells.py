"""Cells of Slurm's tables as values: instants, times elapsed, GPUs, words."""

from datetime import tzinfo
from typing import Final

import polars as pl

from ingest.sources._stamps import offset_ns
from ingest.times import SECOND_NS, Repeated, naive_to_ns

#: Words that stand for a value that is not there.
NOTHING: Final = ("", "Unknown", "None", "NONE", "N/A", "(null)", "n/a", "INVALID")

#: Stamps in years whose nanoseconds fit 64 bits; with an offset where
#: SLURM_TIME_FORMAT was set to have one.
_STAMP: Final = (
    r"^((?:19[7-9]|20[0-9]|21[0-9])[0-9]-[0-9]{2}-[0-9]{2}"
    r"T[0-9]{2}:[0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}:?[0-9]{2})?$"
)

#: Seconds since the epoch, where SLURM_TIME_FORMAT was set to %s, or in JSON.
_EPOCH: Final = r"^[0-9]{9,10}$"

#: Time elapsed: days, hours, minutes and seconds; decimals are left out.
_ELAPSED: Final = (
    r"^(?:(?:([0-9]{1,4})-)?([0-9]{1,2}):)?([0-9]{1,2}):([0-9]{2})(?:\.[0-9]+)?$"
)

#: GPUs in a list of resources: of every model, and of one model.
_GPUS: Final = r"(?:^|,)gres/gpu[=:]([0-9]{1,9})(?:,|$)"
_GPUS_OF_MODEL: Final = r"(?:^|,)gres/gpu:[^=:,]+[=:][0-9]{1,9}"

#: GPUs in the older lists (gpu:8, gpu:volta:8); the sockets in brackets are no part.
_OLD_GPUS: Final = r"(?:^|,)(?:gres:)?gpu(?::[^:,(]*[^:,(0-9][^:,(]*)?:([0-9]{1,9})"
_PER_NODE: Final = r"^PER_NODE:"


def given(field: str) -> pl.Expr:
    """Return a cell, null where it says that there is nothing."""
    return pl.when(~pl.col(field).is_in(NOTHING)).then(pl.col(field))


def instant(field: str, zone: tzinfo, repeated: Repeated = "earliest") -> pl.Expr:
    """Return the instant of a stamp, null where it is none. [ns]

    Args:
        field: Column with the stamp.
        zone: Zone of stamps without an offset.
        repeated: Which of two that daylight saving repeats it is.
    """
    parts = given(field).str.extract_groups(_STAMP)
    moment = parts.struct[0].str.to_datetime("%Y-%m-%dT%H:%M:%S", strict=False)
    offset = parts.struct[1]
    exact = moment.dt.epoch("ns") - offset_ns(offset)
    local = pl.when(offset.is_null()).then(naive_to_ns(moment, zone, repeated))
    epoch = pl.when(pl.col(field).str.contains(_EPOCH)).then(pl.col(field))
    return pl.coalesce(exact, local, epoch.cast(pl.Int64) * SECOND_NS)


def is_naive(field: str) -> pl.Expr:
    """Return whether a stamp needs the zone."""
    text = given(field).fill_null("")
    return text.str.contains("T") & ~text.str.contains(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$")


def elapsed(field: str) -> pl.Expr:
    """Return a time elapsed, null where it is none. [ns]"""
    parts = pl.col(field).str.extract_groups(_ELAPSED)
    days, hours, minutes, seconds = (
        parts.struct[place].cast(pl.Int64) for place in range(4)
    )
    whole = days.fill_null(0) * 24 + hours.fill_null(0)
    return ((whole * 60 + minutes) * 60 + seconds) * SECOND_NS


def whole(field: str) -> pl.Expr:
    """Return a count; of a span of them (2-2) the first."""
    return pl.col(field).str.extract(r"^([0-9]{1,9})(?:-[0-9]{1,9})?$").cast(pl.Int64)


def gpus(field: str) -> pl.Expr:
    """Return the GPUs of a list of resources, over all models where need be."""
    every = pl.col(field).str.extract(_GPUS).cast(pl.Int64)
    return pl.coalesce(every, _summed(pl.col(field), _GPUS_OF_MODEL))


def old_gpus(field: str, nodes: pl.Expr) -> pl.Expr:
    """Return the GPUs of a list of generic resources, which may count per node."""
    text = pl.col(field)
    summed = _summed(text.str.replace(_PER_NODE, ""), _OLD_GPUS)
    return summed * pl.when(text.str.contains(_PER_NODE)).then(nodes).otherwise(1)


def _summed(text: pl.Expr, pattern: str) -> pl.Expr:
    found = text.str.extract_all(pattern)
    number = pl.element().str.extract(r"[=:]([0-9]{1,9})$").cast(pl.Int64)
    return pl.when(found.list.len() > 0).then(found.list.eval(number).list.sum())
