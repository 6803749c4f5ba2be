"""Which catalogue the codes of failures were read by, and what it does not hold."""

import polars as pl

from ingest.xids import UNKNOWN_NAME
from reports._words import listed


def catalogue(incidents: pl.DataFrame) -> str:
    """Name the catalogue of Xid codes, and the codes that it does not hold.

    Args:
        incidents: Rows of Incidents.
    """
    used = incidents["catalogue"].drop_nulls().unique().sort().to_list()
    if not used:
        return ""
    unknown = incidents.filter(pl.col("name") == UNKNOWN_NAME)
    codes = unknown["root_code"].unique().sort().to_list()
    told = f"Xid codes have the meaning that the catalogue {listed(used)} gives them."
    if not codes:
        return told
    return (
        f"{told} It does not hold {listed(codes, 10)}: kept, without severity or"
        " action."
    )
