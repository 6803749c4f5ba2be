"""Hours of devices, cut where runs began or ended to hold them."""

from typing import Final

import polars as pl

from ingest.times import HOUR_NS

PIECE: Final = ("device", "piece")


def pieces_of(devices: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Return the pieces of the sampled time of each device.

    Args:
        devices: `device`, `first_ns` and `last_ns`.
        held: `device`, `run_id`, `from_ns` and `to_ns`, sharing no time.

    Returns:
        `device`, `piece` (counted from zero), `from_ns`, `to_ns`, `run_id` (null where
        nobody held it) and `taken_from_ns`: samples from then on are of the piece. The
        sample at the very end of a hold is of the hold.
    """
    cuts = pl.concat(
        [
            _hours(devices),
            *(devices.select("device", cut=name) for name in ("first_ns", "last_ns")),
            *(held.select("device", cut=name) for name in ("from_ns", "to_ns")),
        ]
    ).unique()
    spans = devices.select("device", "first_ns", "last_ns")
    inside = cuts.join(spans, on="device").filter(
        pl.col("cut").is_between("first_ns", "last_ns")
    )
    following = pl.col("cut").shift(-1).over("device")
    cut = inside.sort("device", "cut").with_columns(to_ns=following)
    is_alone = pl.col("first_ns") == pl.col("last_ns")
    kept = cut.filter(is_alone | pl.col("to_ns").is_not_null())
    pieces = kept.select(
        "device",
        piece=pl.int_range(pl.len()).over("device"),
        from_ns="cut",
        to_ns=pl.coalesce("to_ns", "cut"),
    )
    return _taken(_labelled(pieces, held), held)


def _hours(devices: pl.DataFrame) -> pl.DataFrame:
    hours = [-(-pl.col("first_ns") // HOUR_NS), pl.col("last_ns") // HOUR_NS + 1]
    every = devices.select("device", cut=pl.int_ranges(*hours) * HOUR_NS)
    return every.explode("cut").drop_nulls()


def _labelled(pieces: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    joined = pieces.sort("from_ns").join_asof(
        held.sort("from_ns").select("device", "run_id", from_ns="from_ns", _to="to_ns"),
        on="from_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    is_point = pl.col("from_ns") == pl.col("to_ns")
    is_held = (pl.col("from_ns") < pl.col("_to")) | (
        is_point & (pl.col("from_ns") == pl.col("_to"))
    )
    run = pl.when(is_held).then("run_id")
    return joined.with_columns(run_id=run).drop("_to").sort("device", "piece")


def _taken(pieces: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Say from when on samples are of a piece: one at a hold's end is of the hold."""
    starts = held.select("device", from_ns="from_ns", _starts=pl.lit(value=True))
    ends = held.select("device", from_ns="to_ns", _ends=pl.lit(value=True))
    marked = pieces
    for edges in (starts.unique(), ends.unique()):
        marked = marked.join(
            edges, on=["device", "from_ns"], how="left", maintain_order="left"
        )
    is_after = (
        pl.col("_ends").fill_null(value=False)
        & pl.col("_starts").is_null()
        & (pl.col("piece") > 0)
    )
    told = marked.with_columns(
        taken_from_ns=pl.col("from_ns") + is_after.cast(pl.Int64)
    )
    return told.drop("_starts", "_ends")
