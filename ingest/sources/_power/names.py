"""Whose a power log is, where its tool does not say: the node that its name gives.

Without one, a number of a GPU says nothing beyond the file: the same number is another
GPU in the file of another node.
"""

import re
from typing import Final

import polars as pl

from ingest.sources._source import Reading

_HOST: Final = r"([A-Za-z][A-Za-z0-9.-]*?)"
_TOOL: Final = (
    r"(?:nvidia-smi|smi|dmon|dcgmi|rocm-smi|amd-smi|zeus|codecarbon|ipmitool|redfish)"
)
_NAME: Final = re.compile(
    rf"(?:{_TOOL}[-_]{_HOST}|{_HOST}\.{_TOOL})\.(?:csv|json|log|txt|xml)"
)

#: An identity that is unique in its node only: a position, an address, a path of
#: Redfish, the node itself.
_LOCAL: Final = r"^(?:index:|pci:|/|node$)"

#: Digits of the identity of a file that its devices carry. [1]
_DIGITS: Final = 8


def host_of(name: str) -> str | None:
    """Return the host in the name of a file; None where it has none.

    A name is `<tool>-<host>.<ending>`, `<tool>_<host>.<ending>` or
    `<host>.<tool>.<ending>`.
    """
    match = _NAME.fullmatch(name)
    return (match[1] or match[2]) if match else None


def mark_of(reading: Reading) -> str:
    """Return what tells a file from all others, whatever their names."""
    return f"{reading.name} {reading.file_id[:_DIGITS]}"


def is_local(gpu: str) -> bool:
    """Return whether an identity tells a device from others of its node only."""
    return re.match(_LOCAL, gpu) is not None


def owned(gpu: pl.Expr, host: pl.Expr, reading: Reading) -> pl.Expr:
    """Return identities that no two devices share: `index:0 of power.csv 0a1b2c3d`.

    Args:
        gpu: The best identity that the file gives; null where it gives none.
        host: Node, null where it is not known.
        reading: What is read.
    """
    mark = mark_of(reading)
    own = pl.concat_str(gpu, pl.lit(f" of {mark}"))
    alone = pl.when(gpu.str.contains(_LOCAL)).then(own).otherwise(gpu)
    return (
        pl.when(host.is_null())
        .then(pl.coalesce(alone, pl.lit(f"file:{mark}")))
        .otherwise(pl.coalesce(gpu, pl.lit(f"file:{reading.name}")))
    )
