"""Devices in lots, so that the samples of a fleet are never held at once."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._energy_windows import DEVICE
from ingest.tables import PowerSamples

#: Samples that are worked on at once: about a gigabyte with all that is derived.
CHUNK_SAMPLES: Final = 1_000_000


def devices_of(samples: pl.LazyFrame) -> pl.DataFrame:
    """Return the devices with a number, the span and the number of their samples.

    Args:
        samples: Rows of PowerSamples.
    """
    spans = samples.group_by(DEVICE).agg(
        first_ns=PowerSamples.time_ns.col.min(),
        last_ns=PowerSamples.time_ns.col.max(),
        samples=pl.len().cast(pl.Int64),
    )
    ordered = spans.collect(engine="streaming").sort(DEVICE)
    return ordered.with_columns(device=pl.int_range(pl.len(), dtype=pl.Int64))


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
    hosts = chunk["host"]
    if not hosts.null_count():
        host = PowerSamples.host.col
        first, last = (pl.lit(hosts.min()), pl.lit(hosts.max()))
        samples = samples.filter(host.is_between(first, last))
    numbered = samples.join(
        chunk.select(*DEVICE, "device").lazy(), on=DEVICE, nulls_equal=True
    )
    return numbered.collect(engine="streaming")
