"""What the ports of slow things' hosts counted while they were slow."""

from typing import Final

import polars as pl

from analysis._straggler_things import RANK
from ingest.tables import LinkSamples
from ingest.times import HOUR_NS

#: Counters of what went wrong on the wire, and of what had to queue.
_ERRORS: Final = ("errors", "symbol_errors", "link_downs", "recoveries", "discards")
_QUEUES: Final = (
    "pauses",
    "congestion_marks",
    "retransmits",
    "out_of_sequence",
    "ack_timeouts",
)

_PORT: Final = ["host", "port"]


def links_of(
    windows: pl.DataFrame,
    spans: pl.DataFrame,
    seats: pl.DataFrame,
    links: pl.LazyFrame,
) -> pl.DataFrame:
    """Return the worst port of each spell, beside the job's median port.

    A port counts for its host, and for one GPU alone where the map of hosts says which
    network card it uses.

    Args:
        windows: When spells were, as `spell_windows` gives them.
        spans: When each rank was slow: `spell`, RANK, `from_ns` and `to_ns`.
        seats: Where ranks sit.
        links: Rows of LinkSamples.

    Returns:
        Columns `spell`, `link_rows`, and for errors and congestion `errors_port`,
        `errors` (of the worst port), `errors_per_hour` and `errors_per_hour_job`, and
        the same with `queues`.
    """
    known = seats.filter(pl.col("host").is_not_null())
    of_attempt = ["run_id", "attempt"]
    hosts = known.select(*of_attempt, "host", of_cluster="cluster").unique()
    counted = _counted(links, hosts.join(windows, on=of_attempt))
    own = spans.join(known, on=list(RANK)).select("spell", "host", "nic").unique()
    is_its = pl.col("port").str.starts_with(pl.col("nic")).fill_null(value=True)
    its = counted.join(own, on=["spell", "host"]).filter(is_its)
    ports = its.drop("nic").unique(["spell", *_PORT])
    names = ("errors", "queues")
    typical = counted.group_by("spell").agg(
        pl.col(f"{name}_per_hour").median() for name in names
    )
    worst = ports.group_by("spell").agg(
        pl.col("link_rows").sum(), *(told for name in names for told in _worst(name))
    )
    return worst.join(typical, on="spell", suffix="_job")


def _worst(name: str) -> tuple[pl.Expr, ...]:
    order = [pl.col(name).fill_null(-1), pl.col("port")]
    columns = [(name, name), (f"{name}_per_hour",) * 2, ("port", f"{name}_port")]
    return tuple(
        pl.col(of).sort_by(order, descending=[True, False]).first().alias(to)
        for of, to in columns
    )


def _counted(links: pl.LazyFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Return by how much the counters of ports rose in each spell, by attempt."""
    time = LinkSamples.time_ns.col
    near = time.is_between(windows["from_ns"].min(), windows["to_ns"].max())
    same = (LinkSamples.cluster.col == pl.col("of_cluster")).fill_null(value=True)
    inside = (
        links.filter(near)
        .join(windows.lazy(), on="host")
        .filter(same & time.is_between(pl.col("from_ns"), pl.col("to_ns")))
    )
    of_attempt = ["spell", "attempt", *_PORT]
    series = inside.group_by(*of_attempt, "series").agg(
        pl.len().cast(pl.Int64).alias("link_rows"),
        *(_risen(name) for name in (*_ERRORS, *_QUEUES)),
        span_ns=time.max() - time.min(),
    )
    attempts = series.group_by(of_attempt).agg(
        pl.col("link_rows").sum(),
        pl.col("span_ns").max(),
        errors=_sum(_ERRORS),
        queues=_sum(_QUEUES),
    )
    ports = attempts.group_by("spell", *_PORT).agg(
        pl.col("link_rows", "span_ns").sum(),
        errors=_sum(("errors",)),
        queues=_sum(("queues",)),
    )
    hours = pl.when(pl.col("span_ns") > 0).then(pl.col("span_ns") / HOUR_NS)
    rates = [(pl.col(n) / hours).alias(f"{n}_per_hour") for n in ("errors", "queues")]
    return ports.with_columns(rates).collect(engine="streaming")


def _risen(name: str) -> pl.Expr:
    """Return by how much a counter rose; one that falls was set to zero."""
    state = pl.col(name).sort_by("time_ns").drop_nulls()
    known = pl.col(name).count() > 1
    return pl.when(known).then(state.diff().clip(0).sum()).alias(name)


def _sum(names: tuple[str, ...]) -> pl.Expr:
    parts = [pl.col(name).sum() for name in names]
    known = pl.any_horizontal(pl.col(name).is_not_null().any() for name in names)
    return pl.when(known).then(pl.sum_horizontal(parts))
