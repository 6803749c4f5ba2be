"""Log of NVIDIA's fabric manager: `[Jul 23 2024 07:53:55] [ERROR] [tid 841] ...`.

Errors are rows. Errors of an NVSwitch that it reports keep their code (SXid); those
that are not fatal are warnings. A switch is named by its PCI address, as the kernel
does, and where there is none by the manager's own number. Times are local to the node.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._kernel.messages import short_address
from ingest.sources._kernel.patterns import ADDRESS
from ingest.sources._lines import refuse_all
from ingest.sources._lines_frames import line_frames
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Source
from ingest.tables import Failures
from ingest.times import naive_to_ns

_START: Final = (
    r"^\[([0-9A-Za-z_]{3}) +([0-9]{1,2}) ((?:19[7-9]|20[0-9]|21[0-9])[0-9])"
    r" ([0-9]{2}:[0-9]{2}:[0-9]{2})\] \[([0-9A-Za-z_]+)\] \[tid [0-9]+\] "
)
_HEAD: Final = re.compile(_START, re.MULTILINE)

#: What the manager says of an error of a switch: severity, code, port, address.
_SWITCH: Final = r"detected NVSwitch (non-fatal|fatal) error ([0-9]{1,9})"
_PORT: Final = r" physical id ([0-9]+) port ([0-9]+)"
_BUS: Final = rf" pci bus id {ADDRESS}"

_LEVELS: Final = {"ERROR": "error", "CRITICAL": "fatal"}

_ALIKE: Final = ("code", "time_ns", "message")


def recognizes(head: Head) -> bool:
    """Return whether a line starts as the manager's lines do."""
    return bool(_HEAD.search(head.text))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the errors of a log."""
    kept: list[pl.DataFrame] = []
    for lines in line_frames(stream, Failures):
        told = pl.col("line").str.extract(_START, 5).is_in(list(_LEVELS))
        kept.append(lines.frame.filter(told))
        yield lines.counted()
    if kept:
        yield _batch(pl.concat(kept), reading)


def _batch(lines: pl.DataFrame, reading: Reading) -> Batch:
    events = lines.with_columns(
        time_ns=_time_ns(reading),
        message=pl.col("line").str.replace(_START, "").str.head(RAW_CHARACTERS),
        level=pl.col("line").str.extract(_START, 5),
        place=phrase("line {}", "number"),
        rule=pl.lit("time_ns|no_such_time"),
    )
    dated = events.filter(pl.col("time_ns").is_not_null())
    undated = events.filter(pl.col("time_ns").is_null())
    refused = refuse_all(Failures, undated)
    if dated.is_empty():
        return Batch(refused=refused)
    quality = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    rows = dated.select(
        "time_ns",
        "message",
        "place",
        *_meaning(),
        cluster=pl.lit(reading.cluster),
        time_quality=pl.lit(quality),
        inferred=pl.lit(value=False),
        line_count=pl.lit(1, pl.Int64),
    ).with_columns(
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(_ALIKE),
    )
    return Batch({Failures: rows}, refused=refused, zone_used=True)


def _time_ns(reading: Reading) -> pl.Expr:
    parts = pl.col("line").str.extract_groups(_START)
    stamp = pl.concat_str(*(parts.struct[i] for i in range(4)), separator=" ")
    naive = stamp.str.to_datetime("%b %d %Y %H:%M:%S", strict=False)
    return naive_to_ns(naive, reading.zone)


def _meaning() -> list[pl.Expr]:
    message = pl.col("message").str
    code = message.extract(_SWITCH, 2).cast(pl.Int64).cast(pl.String)
    switch, port = message.extract(_PORT, 1), message.extract(_PORT, 2)
    bus = short_address(message.extract(_BUS))
    part = pl.coalesce(
        phrase("switch {} link {}", bus, port),
        phrase("switch {}", bus),
        phrase("switch {} port {}", switch, port),
    )
    by_level = pl.col("level").replace_strict(_LEVELS, return_dtype=pl.String)
    by_word = message.extract(_SWITCH, 1).replace({"non-fatal": "warning"})
    is_switch = code.is_not_null()
    named = {
        "source": ("sxid", "other"),
        "name": ("NVSwitch error", "error of the fabric manager"),
        "component": ("nvlink", "nvlink"),
        "action": ("inspect_nvlink", "inspect_nvlink"),
    }
    return [
        pl.coalesce(code, pl.lit("fabric_manager")).alias("code"),
        pl.coalesce(by_word, by_level).alias("severity"),
        part.alias("part"),
        *(
            pl.when(is_switch).then(pl.lit(one)).otherwise(pl.lit(other)).alias(name)
            for name, (one, other) in named.items()
        ),
    ]


SOURCE: Final = Source(
    name="fabric-manager",
    version=2,
    describes="log of NVIDIA's fabric manager: its errors and those of NVSwitches",
    tables=(Failures,),
    options=frozenset({"zone", "cluster"}),
    recognizes=recognizes,
    read=read,
)
