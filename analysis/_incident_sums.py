"""Incidents from their events: a name, and what they sum up to."""

import hashlib
from typing import Final

import polars as pl

from analysis._incident_chains import CONSEQUENCES, roots
from ingest.xids import CATALOGUE

#: Digits of an identity: 64 bits, so that a million incidents are told apart.
_ID_DIGITS: Final = 16


def name_incidents(events: pl.DataFrame) -> pl.DataFrame:
    """Add `incident_id`, which only the root event decides.

    Args:
        events: Events with their `chain`.
    """
    columns = ["cluster", "host", "gpu_key", "source", "code", "first_ns", "undated"]
    told = roots(events).select(
        "chain", identity=pl.struct(columns).struct.json_encode()
    )
    digest = pl.col("identity").map_elements(_digest, return_dtype=pl.String)
    return events.join(told.select("chain", incident_id=digest), on="chain")


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()[:_ID_DIGITS]


def sum_up(events: pl.DataFrame) -> pl.DataFrame:
    """Sum the events of each incident up, sorted by time.

    Args:
        events: Events with their `chain`, `incident_id` and `category`.

    Returns:
        The columns of Incidents, and others.
    """
    is_cause = ~pl.col("role").is_in(CONSEQUENCES)
    causing = (
        pl.when(is_cause.any())
        .then(pl.col("host").filter(is_cause).n_unique())
        .otherwise(pl.col("host").n_unique())
    )
    sums = events.group_by("incident_id").agg(
        pl.col("last_ns").max(),
        pl.col("lines").sum(),
        _first_ns=pl.col("first_ns").min(),
        events=pl.len().cast(pl.Int64),
        host_count=pl.col("host").drop_nulls().n_unique().cast(pl.Int64),
        _causing=causing,
    )
    root = roots(events).drop("lines", "last_ns").join(sums, on="incident_id")
    one_host = pl.when(pl.col("_causing") == 1).then("host")
    told = root.with_columns(
        one_host.alias("host"),
        catalogue=pl.when(pl.col("source") == "xid").then(pl.lit(CATALOGUE)),
        first_ns=pl.col("_first_ns"),
        root_source=pl.col("source"),
        root_code=pl.col("code"),
    )
    return told.sort("first_ns", "incident_id")
