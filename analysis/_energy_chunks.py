"""Devices in lots, so that the samples of a fleet are never held at once."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._energy_names import identity, is_global, names_of, of_cluster
from analysis._energy_windows import DEVICE
from analysis._host_names import spelled_alike
from ingest.tables import PowerSamples

#: Samples that are worked on at once: about a gigabyte with all that is derived.
CHUNK_SAMPLES: Final = 1_000_000


def devices_of(samples: pl.LazyFrame, gpus: pl.DataFrame) -> pl.DataFrame:
    """Return the devices with a number, the span and the number of their samples.

    A UUID is one device, whatever its sources call its host, or if they name none. Any
    other identity is one on its host, however that is spelled.

    Args:
        samples: Rows of PowerSamples.
        gpus: Rows of Gpus: where they know a device, its host is theirs.

    Returns:
        DEVICE, `first_ns`, `last_ns`, `samples`, `device`, and `seen`: each DEVICE
        that its samples name.
    """
    spans = samples.group_by(DEVICE).agg(
        first_ns=PowerSamples.time_ns.col.min(),
        last_ns=PowerSamples.time_ns.col.max(),
        samples=pl.len().cast(pl.Int64),
    )
    return numbered(spans.collect(engine="streaming"), gpus)


def numbered(told: pl.DataFrame, gpus: pl.DataFrame) -> pl.DataFrame:
    """Return what `devices_of` does.

    Args:
        told: DEVICE, `first_ns`, `last_ns` and `samples` of all that was sampled.
        gpus: Rows of Gpus.
    """
    names = names_of(gpus, told)
    spelled = spelled_alike(told.with_columns(seen=pl.struct(DEVICE)).lazy(), names)
    is_local = ~is_global("gpu_uuid")
    placed = spelled.with_columns(
        _cluster=pl.when(is_local).then("cluster"),
        _host=pl.when(is_local).then("host"),
        _key=identity("gpu_uuid"),
    )
    usual = placed.sort(pl.col("host").is_null(), -pl.col("samples"), *DEVICE)
    named = usual.group_by("_cluster", "_host", "_key", maintain_order=True).agg(
        pl.col(DEVICE).first(),
        pl.col("first_ns").min(),
        pl.col("last_ns").max(),
        pl.col("samples").sum(),
        pl.col("seen"),
    )
    homes = _homes(spelled_alike(of_cluster(gpus, told).lazy(), names))
    homed = named.join(homes, on="_key", how="left").select(
        *("cluster", "first_ns", "last_ns", "samples", "seen"),
        host=pl.coalesce("_home", "host"),
        gpu_uuid=pl.coalesce("_named", "gpu_uuid"),
    )
    ordered = homed.collect().sort(DEVICE)
    return ordered.with_columns(device=pl.int_range(pl.len(), dtype=pl.Int64))


def _homes(gpus: pl.LazyFrame) -> pl.LazyFrame:
    """Return how GPUs spell each UUID, and its host, if it was on one alone."""
    known = gpus.filter(is_global("gpu_uuid"))
    hosts = pl.col("host").drop_nulls()
    return known.group_by(_key=identity("gpu_uuid")).agg(
        _named=pl.col("gpu_uuid").min(),
        _home=pl.when(hosts.n_unique() == 1).then(hosts.first()),
    )


def chunks(devices: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield devices in lots that fit into memory; a device is never split.

    Args:
        devices: Rows of `devices_of`.
    """
    before = pl.col("samples").cum_sum() - pl.col("samples")
    lots = devices.with_columns(_lot=before // CHUNK_SAMPLES)
    for lot in lots.partition_by("_lot", maintain_order=True):
        yield lot.drop("_lot")


def samples_of(samples: pl.LazyFrame, chunk: pl.DataFrame) -> pl.DataFrame:
    """Return the samples of a lot of devices, with their number.

    Parts of the lake are sorted by node: what lies outside the nodes of a lot is not
    even read.

    Args:
        samples: Rows of PowerSamples.
        chunk: Devices of one lot.
    """
    seen = chunk.select("device", "seen").explode("seen").unnest("seen")
    hosts = seen["host"]
    if not hosts.null_count():
        host = PowerSamples.host.col
        first, last = (pl.lit(hosts.min()), pl.lit(hosts.max()))
        samples = samples.filter(host.is_between(first, last))
    known = seen.select(*DEVICE, "device").lazy()
    mine = samples.join(known, on=DEVICE, nulls_equal=True)
    return mine.collect(engine="streaming")
