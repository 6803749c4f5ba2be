"""Where GPUs sat that were held: a place once, however often it was held."""

from typing import Final

import polars as pl

#: Holds that are looked at at once: a long history has millions, of few GPUs. [1]
HOLDS: Final = 1_000_000

_SEAT: Final = ("run_id", "attempt", "rank", "host", "gpu_uuid")

_PLACE: Final[dict[str, pl.DataType]] = {
    "cluster": pl.String(),
    "host": pl.String(),
    "gpu_uuid": pl.String(),
    "local_rank": pl.Int32(),
    "pci_address": pl.String(),
}

_SPAN: Final = {
    "_w": pl.Int64(),
    "from_ns": pl.Int64(),
    "to_ns": pl.Int64(),
    "window": pl.String(),
}


def places_held(
    allocations: pl.DataFrame, gpus: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what GPUs that were held are found by, and when they were held.

    Args:
        allocations: Rows of Allocations.
        gpus: Rows of Gpus, which tell positions and addresses.

    Returns:
        Places: `_w`, a number, `cluster`, `host`, `gpu_uuid`, `local_rank` and
        `pci_address`, each once. Spans: `_w`, `from_ns`, `to_ns` and `window`, the run.
    """
    places = pl.DataFrame(schema={"_w": pl.Int64(), **_PLACE})
    spans = [pl.DataFrame(schema=_SPAN)]
    seats = gpus.select(*_SEAT, "local_rank", "pci_address")
    for some in allocations.iter_slices(HOLDS):
        seated = _seated(some, seats)
        told = seated.select(*_PLACE).unique()
        new = told.join(places, on=[*_PLACE], how="anti", nulls_equal=True)
        number = pl.int_range(pl.len(), dtype=pl.Int64) + places.height
        places = pl.concat([places, new.select(number.alias("_w"), *_PLACE)])
        placed = seated.join(places, on=[*_PLACE], nulls_equal=True)
        spans.append(placed.select("_w", "from_ns", "to_ns", window="run_id"))
    return places, pl.concat(spans).unique()


def _seated(some: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Add positions and addresses to holds."""
    held = some.select(*_SEAT, "cluster", "from_ns", "to_ns").unique()
    attempts = held.select(low=pl.col("attempt").min(), high=pl.col("attempt").max())
    near = pl.col("attempt").is_between(*attempts.row(0)).fill_null(value=True)
    mine = seats.filter(near).unique(_SEAT)
    return held.join(mine, on=_SEAT, how="left", nulls_equal=True)
