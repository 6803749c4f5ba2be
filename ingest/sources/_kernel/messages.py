"""What a message of the kernel log is: its kind, address, serial and named part."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._kernel import evidence, patterns
from ingest.sources._source import RAW_CHARACTERS

_MESSAGE: Final = pl.col("message").str


def message() -> pl.Expr:
    """Return the message of a line, from its first telling word on."""
    return (
        pl.col("line").str.extract(rf"({patterns.STARTS}.*)$").str.head(RAW_CHARACTERS)
    )


def prefix() -> pl.Expr:
    """Return what stands in front of the message: time, node, quotes."""
    return pl.col("line").str.extract(rf"^(.*?){patterns.STARTS}")


def kind() -> pl.Expr:
    """Return the kind of a message, null where it tells of nothing.

    Words about the node's own hardware count only where the kernel says them, and
    where they name NVIDIA's driver.
    """
    found = pl.lit(None, pl.String)
    by_kernel = pl.col("prefix").str.contains(evidence.KERNEL_PREFIX)
    by_kernel |= _MESSAGE.contains(r"^(?:NVRM: |nvidia-peermem )")
    for name, pattern in reversed(patterns.KINDS.items()):
        fits = _MESSAGE.contains(pattern)
        fits = fits & by_kernel if name == "kernel" else fits
        found = pl.when(fits).then(pl.lit(name)).otherwise(found)
    return found


def address() -> pl.Expr:
    """Return the PCI address in a message, as 0000:5d:00."""
    telling = (
        patterns.XID,
        patterns.SXID,
        patterns.OFF_BUS,
        patterns.OFF_BUS_HEAD,
        patterns.UUID,
        patterns.SERIAL_AT,
        evidence.GPU_ADDRESS,
    )
    return short_address(pl.coalesce(_MESSAGE.extract(it, 1) for it in telling))


def short_address(found: pl.Expr) -> pl.Expr:
    """Return a PCI address, as 0000:5d:00."""
    return found.str.to_lowercase().str.replace("^0{1,4}([0-9a-f]{4}:)", "${1}")


def uuid() -> pl.Expr:
    """Return the UUID of a GPU that a message tells."""
    return _MESSAGE.extract(patterns.UUID, 2)


def serial() -> pl.Expr:
    """Return the serial number that a message tells."""
    return pl.coalesce(
        _MESSAGE.extract(patterns.SERIAL), _MESSAGE.extract(patterns.SERIAL_AT, 2)
    )


def part() -> pl.Expr:
    """Return the part that a message names: a switch, a place in the chip, a disk."""
    switch = short_address(_MESSAGE.extract(patterns.SXID, 1))
    unit, link = _MESSAGE.extract(patterns.NVLINK5, 1), _nvlink()
    instance = _MESSAGE.extract(patterns.MIG, 1)
    compute = _MESSAGE.extract(patterns.MIG, 2)
    return pl.coalesce(
        phrase("{} link {}", unit, link),
        phrase("GPU instance {}, compute instance {}", instance, compute),
        phrase("GPU instance {}", instance),
        _MESSAGE.extract(patterns.PLACE),
        phrase("switch {} link {}", switch, _MESSAGE.extract(patterns.SXID_LINK)),
        phrase("switch {}", switch),
        phrase("module {}", _MESSAGE.extract(r"Port module event.* module ([0-9]+)")),
        _MESSAGE.extract(r"^mlx5_core ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"),
        *(_MESSAGE.extract(pattern) for pattern in evidence.PARTS),
    )


def _nvlink() -> pl.Expr:
    return _MESSAGE.extract(patterns.NVLINK5, 4).cast(pl.Int64, strict=False)
