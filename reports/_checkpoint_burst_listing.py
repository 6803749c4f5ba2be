"""Ways to write a save: what the store takes, and what it stalls."""

from typing import Final

import polars as pl

from reports._checkpoint_cells import ordered, query, share
from reports._checkpoint_shown import DASH, Row, per_day
from reports._numbers import THIN, duration, significant, size
from reports._section import Column, Listing, Scope

_SCHEMES: Final = {
    "direct": "straight to the store",
    "two_tier": "to the node, then to the store",
    "staggered": "to the node, then in turns",
}


def listing(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the table of ways to write; none for a run without one.

    Args:
        rows: Rows of CheckpointBursts of one run.
        scope: Runs of the page.
    """
    if rows.is_empty():
        return []
    return [
        Listing(
            title=f"Ways to write a save{_sized(rows.row(0, named=True))}",
            columns=(
                Column("written"),
                Column("burst over rate", "What writers push.", is_number=True),
                Column("store busy for", is_number=True),
                Column("stall", is_number=True),
                Column("safe after", is_number=True),
                Column("best interval", is_number=True),
                Column("wasted", is_number=True),
                Column("saved a day", is_number=True),
                Column("limits"),
            ),
            rows=[
                _burst(row, scope) for row in ordered(rows, "scheme", list(_SCHEMES))
            ],
            sql=query("checkpoint_bursts", str(rows["run_id"][0])),
        )
    ]


def _sized(row: Row) -> str:
    if row["bytes"] is None:
        return ""
    store = row["store_gbs"]
    rate = f" to a store of {significant(store)}{THIN}GB/s" if store else ""
    basis = {
        "parameters": " (assumed from the parameters)",
        "card": " (by the run card)",
    }
    return f" of {size(row['bytes'])}{basis.get(row['bytes_basis'], '')}{rate}"


def _burst(row: Row, scope: Scope) -> tuple[str, ...]:
    demand = row["demand_ratio"]
    return (
        _SCHEMES[row["scheme"]],
        DASH if demand is None else f"{significant(demand)}\N{MULTIPLICATION SIGN}",
        *(
            DASH if row[column] is None else duration(row[column])
            for column in ("burst_ns", "stall_ns", "flush_ns", "interval_ns")
        ),
        share(row["waste_ratio"]),
        per_day(row["saved_gpu_ns_per_day"], row["run_id"], scope),
        row["reason"] or "",
    )
