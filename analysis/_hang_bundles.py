"""Sends and receives that were asked for as one bundle."""

from typing import Final

import polars as pl

from analysis._hang_dumps import HANG

_GROUP: Final = (*HANG, "dump_id", "group_id")

#: What a bundle tells of its parts.
_TOLD: Final = ("state", "end_ns", "is_started")


def with_bundles(entries: pl.LazyFrame, statuses: pl.LazyFrame) -> pl.LazyFrame:
    """Give the sends and receives of a bundle the state of the bundle.

    PyTorch records each part of a batch without events, so that a part is `scheduled`
    for ever; the entry of the whole follows its parts, with the number of the batch,
    and alone tells how far it got. Groups of one purpose are used alike: where one
    shows bundles, a part whose bundle a dump does not hold has ended, for dumps may
    leave out what ended, and never drop a bundle before its parts. So have all, where
    every rank has completed the last that it asked for in each of its groups.

    Args:
        entries: Rows of `entries_of`, with their hang.
        statuses: Rows of `statuses_of`, with their hang.
    """
    whole = pl.col("kind") == "coalesced"
    near = entries.filter("is_p2p" | whole).collect(engine="streaming")
    paired = (pl.col("is_p2p") & ~whole).any().over(*HANG, "group_id")
    is_bundle = whole & (pl.col("is_p2p") | paired)
    marked = near.sort(*_GROUP, "event", "kind").with_columns(is_bundle=is_bundle)
    is_equal = pl.col("last_enqueued") == pl.col("last_completed")
    settled = statuses.group_by(HANG).agg(
        is_settled=is_equal.fill_null(value=False).all()
    )
    marked = marked.join(settled.collect(), on=HANG, how="left")
    judged = _told(marked).select(entries.collect_schema().names())
    rest = entries.filter(~("is_p2p" | whole))
    return pl.concat([rest, judged.lazy()])


def _told(marked: pl.DataFrame) -> pl.DataFrame:
    """Return entries with what the next bundle of their group and number tells."""
    is_bundle = pl.col("is_bundle")
    uses = (is_bundle.any() & pl.col("parallel_kind").is_not_null()).over(
        *HANG, "parallel_kind"
    ) | is_bundle.any().over(*HANG, "group_id")
    later = {
        f"bundle_{name}": pl.when(is_bundle)
        .then(name)
        .fill_null(strategy="backward")
        .over(_GROUP)
        for name in ("event", "p2p_sequence")
    }
    settled = pl.col("is_settled").fill_null(value=False)
    rows = marked.with_columns(**later, uses=uses | settled)
    told = rows.filter(is_bundle).select(
        *_GROUP,
        *[pl.col(name).alias(f"bundle_{name}") for name in ("event", *_TOLD)],
    )
    told = told.unique((*_GROUP, "bundle_event"), keep="first", maintain_order=True)
    rows = rows.join(told, on=(*_GROUP, "bundle_event"), how="left")
    mine = pl.col("p2p_sequence") == pl.col("bundle_p2p_sequence")
    is_held = pl.col("bundle_event").is_not_null() & mine.fill_null(value=True)
    is_part = ~is_bundle & pl.col("is_p2p") & (pl.col("state") == "scheduled")
    over = {
        "state": pl.lit("completed"),
        "end_ns": pl.col("enqueue_ns"),
        "is_started": pl.lit(value=True),
    }
    return rows.with_columns(
        pl.when(is_part & is_held)
        .then(f"bundle_{name}")
        .when(is_part & pl.col("uses"))
        .then(gone)
        .otherwise(name)
        .alias(name)
        for name, gone in over.items()
    )
