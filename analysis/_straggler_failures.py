"""Failure events on the GPUs and hosts of slow things, while they were slow."""

from typing import Final

import polars as pl

from analysis._host_names import host_names, spelled_alike
from analysis._straggler_things import RANK
from ingest.phrases import phrase
from ingest.tables import Failures

#: Events that are no sign of a slow machine: a scheduler and an application report
#: what happened to the job, not what made it slow.
_NOT_OF_A_MACHINE: Final = ("scheduler", "application")

_BUS: Final = r"([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"


def failures_of(
    spans: pl.DataFrame, seats: pl.DataFrame, failures: pl.LazyFrame
) -> pl.DataFrame:
    """Return what failed on a slow thing's GPUs and hosts during its spell.

    An event that names a GPU counts for that GPU; one that names none, for its host.

    Args:
        spans: When each rank was slow: `spell`, RANK, `from_ns` and `to_ns`.
        seats: Where ranks sit.
        failures: Rows of Failures.

    Returns:
        Columns `spell`, `events`, the codes with their counts in words, and
        `event_rows`, how many.
    """
    placed = spans.join(seats, on=list(RANK)).filter(pl.col("host").is_not_null())
    time = Failures.time_ns.col
    near = time.is_between(spans["from_ns"].min(), spans["to_ns"].max())
    of_machine = ~Failures.source.col.is_in(_NOT_OF_A_MACHINE)
    events = failures.filter(near & of_machine).select(
        "cluster", "host", "gpu_key", "time_ns", "source", "code"
    )
    named = spelled_alike(events, host_names([placed.lazy(), events]))
    told = named.rename({"cluster": "event_cluster"})
    found = told.join(placed.lazy(), on="host").filter(
        time.is_between(pl.col("from_ns"), pl.col("to_ns"))
        & (pl.col("cluster") == pl.col("event_cluster")).fill_null(value=True)
        & _is_its_gpu()
    )
    codes = found.select(
        "spell", "host", "gpu_key", "time_ns", "source", "code"
    ).unique()
    counted = codes.group_by("spell", "source", "code").len("events").collect()
    order = ["spell", "events", "source", "code"]
    ordered = counted.sort(order, descending=[False, True, False, False])
    said = phrase("{} {} ({})", "source", "code", "events").str.join(", ")
    return ordered.group_by("spell", maintain_order=True).agg(
        event_rows=pl.col("events").sum().cast(pl.Int64), events=said
    )


def _is_its_gpu() -> pl.Expr:
    """Return whether an event is of no GPU in particular, or of the row's."""
    key = Failures.gpu_key.col
    bus = key.str.to_lowercase().str.extract(_BUS)
    same_bus = bus == pl.col("pci_address").str.to_lowercase().str.extract(_BUS)
    same = (key == pl.col("gpu_uuid")) | (key == pl.col("serial")) | same_bus
    return key.is_null() | same.fill_null(value=False)
