"""GPUs that fell off the bus: one event for each, however often it was said.

The driver says so up to three times: as Xid 79, in a line that names the GPU, and in
a message of three lines. Words without the code are Xid 79, inferred, unless the code
itself is near.
"""

from typing import Final

import polars as pl

#: Time within which two messages tell of the same loss. [ns]
SAME_LOSS_NS: Final = 300 * 1_000_000_000

#: Lines within which two messages without a time tell of the same loss: a node that
#: loses a GPU writes some tens of lines about it.
SAME_LOSS_LINES: Final = 100

#: Lines within which a message of three lines ends where two GPUs are lost at once.
MIXED_LINES: Final = 8

_WORDS: Final = ("off_bus", "off_bus_tail")
_GPU: Final = ("host", "address")


def mixed_heads(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the address that the last line of a message of three lines is about.

    Where two GPUs are lost at once their messages can be mixed: the first of the last
    lines then goes with the first of the first ones.

    Args:
        lines: Columns `number`, `kind`, `host` and `address`, in the order of the file.

    Returns:
        Columns `number` and `head_address` of last lines whose first line is near.
    """
    rank = pl.int_range(pl.len()).over("host")
    heads = lines.filter(kind="off_bus_head").select(
        "host", rank.alias("rank"), head="number", head_address="address"
    )
    tails = lines.filter(
        (pl.col("kind") == "off_bus_tail") & pl.col("address").is_null()
    ).select("host", "number", rank.alias("rank"))
    pairs = tails.join(heads, on=["host", "rank"], nulls_equal=True)
    apart = pl.col("number").cast(pl.Int64) - pl.col("head").cast(pl.Int64)
    return pairs.filter(apart.is_between(1, MIXED_LINES)).select(
        "number", "head_address"
    )


def fold_losses(lines: pl.DataFrame) -> pl.DataFrame:
    """Drop words of a loss that another message tells; count their lines there.

    Args:
        lines: Columns `number`, `kind`, `message`, `host`, `address`, `time_ns`,
            `boot_offset_ns` and `line_count`, in the order of the file.
    """
    is_code = (pl.col("kind") == "xid") & pl.col("message").str.contains(
        r"^NVRM: Xid \([^)]*\):? ?79\b"
    )
    told = is_code | pl.col("kind").is_in(_WORDS)
    losses = lines.filter(told & pl.col("address").is_not_null()).with_columns(
        is_code=is_code, clock=pl.coalesce("time_ns", "boot_offset_ns")
    )
    if not losses["kind"].is_in(_WORDS).any():
        return lines
    kept_as = _keep(losses)
    extra = kept_as.filter(pl.col("number") != pl.col("kept"))
    more = extra.group_by("kept").agg(pl.col("line_count").sum().alias("more"))
    gone = extra.select("number")
    return (
        lines.join(gone, on="number", how="anti", maintain_order="left")
        .join(
            more, left_on="number", right_on="kept", how="left", maintain_order="left"
        )
        .with_columns(line_count=pl.col("line_count") + pl.col("more").fill_null(0))
        .drop("more")
    )


def _keep(losses: pl.DataFrame) -> pl.DataFrame:
    """Return each message about a loss with `kept`, the line of the one that stays."""
    by_gpu = losses.sort(*_GPU, "number", nulls_last=True)
    silence = pl.col("clock").diff().abs().over(_GPU)
    apart = pl.col("number").cast(pl.Int64).diff().over(_GPU)
    opens = pl.coalesce(silence > SAME_LOSS_NS, apart > SAME_LOSS_LINES)
    spells = by_gpu.with_columns(
        spell=opens.fill_null(value=False).cast(pl.Int64).cum_sum().over(_GPU)
    )
    code = pl.when("is_code").then("number").min().over(*_GPU, "spell")
    first = pl.col("number").min().over(*_GPU, "spell")
    stays = pl.when("is_code").then("number").otherwise(pl.coalesce(code, first))
    return spells.select("number", "line_count", kept=stays)
