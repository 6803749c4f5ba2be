"""One name for each host, however its sources spell it."""

from collections.abc import Sequence
from typing import Final

import polars as pl

#: Columns that tell one host from another.
HOST: Final = ("cluster", "host")

#: Addresses (four numbers, or IPv6): their dots part no labels of a name.
_ADDRESS: Final = r"^[0-9.]+$|:"


def host_key(host: str = "host") -> pl.Expr:
    """Return a host in lower case and without the dot that ends a full name.

    Args:
        host: Column with the host.
    """
    plain = pl.col(host).str.strip_chars().str.to_lowercase()
    return plain.str.strip_chars_end(".")


def host_names(told: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Find one name for all spellings of a host.

    Case and a last dot make no difference (RFC 4343). A short name and a full one are
    one host where all names in the cluster that begin with that short name are the
    longest of them with labels cut off; `node-02.a` and `node-02.b` stay apart, and
    so does the `node-02` beside them.

    Args:
        told: Rows with `cluster` and `host` of all that tell of hosts, the one whose
            spelling is kept first.

    Returns:
        A row for each spelling: `cluster`, `host` and `name`.
    """
    ranked = [
        rows.select(*HOST, _rank=pl.lit(rank, pl.Int32))
        for rank, rows in enumerate(told)
    ]
    spelled = pl.concat(ranked).drop_nulls(HOST).group_by(HOST).agg(pl.min("_rank"))
    key = host_key()
    label = key.str.split(".").list.first()
    short = pl.when(key.str.contains(_ADDRESS)).then(key).otherwise(label)
    keyed = spelled.with_columns(_key=key, _short=short)
    longest = pl.col("_key").sort_by(pl.col("_key").str.len_bytes(), "_key").last()
    whole = longest.over("cluster", "_short") + "."
    is_cut = whole.str.starts_with(pl.col("_key") + ".")
    is_one = is_cut.all().over("cluster", "_short")
    grouped = keyed.with_columns(_one=pl.when(is_one).then("_short").otherwise("_key"))
    order = ("_rank", pl.col("host").str.len_bytes(), pl.col("host") != pl.col("_key"))
    name = pl.col("host").sort_by(*order, "host").first()
    named = grouped.with_columns(name=name.over("cluster", "_one"))
    return named.select(*HOST, "name")


def spelled_alike(rows: pl.LazyFrame, names: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows in their order, each host by its one name.

    Args:
        rows: Rows with `cluster` and `host`; a host that `names` lacks stays as it is.
        names: What `host_names` returns.
    """
    by_host = names.select(*HOST, _name="name")
    joined = rows.join(by_host, on=list(HOST), how="left", maintain_order="left")
    return joined.with_columns(host=pl.coalesce("_name", "host")).drop("_name")
