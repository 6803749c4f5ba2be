"""What tells a sampled device from all others: a UUID, or its host and a name."""

from typing import Final

import polars as pl

from analysis._host_names import host_names

#: Identities that no two devices on earth share: UUIDs, and the
#: 64 bits of a GPU of AMD.
_GLOBAL: Final = (
    r"(?i)^(?:MIG-)?(?:GPU-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|^0x[0-9a-f]{16}$"
)

#: What follows the identity of a device whose node its file does not tell.
OF_FILE: Final = r" of .*$"

#: A UUID that was blanked out, which all devices share.
_BLANK: Final = r"^(?:[A-Z]+-)?0{8}(?:-0{4}){3}-0{12}$"


def is_global(name: str) -> pl.Expr:
    """Return whether an identity is one device by itself, whatever host is told.

    Args:
        name: Column of the identity.
    """
    identity = pl.col(name)
    return identity.str.contains(_GLOBAL) & ~identity.str.contains(_BLANK)


def identity(name: str) -> pl.Expr:
    """Return an identity that is the same for all spellings of a UUID.

    Args:
        name: Column of the identity.
    """
    told = pl.col(name)
    return pl.when(is_global(name)).then(told.str.to_lowercase()).otherwise(told)


def of_cluster(rows: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return rows of which those of no known cluster are of the one that was sampled.

    Args:
        rows: Rows with `cluster`.
        told: `cluster` of samples.
    """
    clusters = told["cluster"].drop_nulls().unique()
    sole = clusters[0] if clusters.len() == 1 else None
    return rows.with_columns(pl.col("cluster").fill_null(pl.lit(sole, pl.String)))


def names_of(gpus: pl.DataFrame, told: pl.DataFrame) -> pl.LazyFrame:
    """Return one name for each host that GPUs or samples name, that of the GPUs first.

    Args:
        gpus: Rows of Gpus.
        told: `cluster` and `host` of samples.
    """
    return host_names([of_cluster(gpus, told).lazy(), told.lazy()])
