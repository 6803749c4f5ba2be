"""Failure events from the telling messages of one kernel log, all together."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._kernel import codes, messages
from ingest.sources._kernel.bus import fold_losses, mixed_heads
from ingest.sources._kernel.envelopes import with_envelope
from ingest.sources._kernel.patterns import CLOCK, EVENTS, OF_XID
from ingest.sources._source import Reading, Refusal
from ingest.tables import Failures

#: Lines within which a message of several lines ends, others between them included.
MESSAGE_LINES: Final = 4

#: Columns that tell events of one file apart, besides how often they are repeated.
_ALIKE: Final = (
    "host",
    "gpu_key",
    "source",
    "code",
    "time_ns",
    "boot_offset_ns",
    "message",
)

#: Rule of a line whose stamp names a time that its zone or the calendar lacks.
NO_SUCH_TIME: Final = "time_ns|no_such_time"

_HINTS: Final = {
    NO_SUCH_TIME: "a day or an hour that the calendar or the zone does not have;"
    " a wrong zone would explain it",
    "xid_zero": "0 is no code",
    "xid_without_address_or_code": "expected `Xid (PCI:0000:5d:00): 79, ...`",
}


def parse(hits: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Split lines in envelope and message, and say when and where they were written.

    Args:
        hits: Columns `number`, `line`, `year` and `count` (equal lines that it stands
            for) of lines that may tell of a failure.
        reading: What is known about the file.

    Returns:
        Columns `number`, `message`, `kind`, `count`, `host`, `time_ns`,
        `boot_offset_ns`, `time_quality`, `naive` and `stamped` of the lines that tell
        of something.
    """
    split = hits.select(
        "number", "year", "count", message=messages.message(), prefix=messages.prefix()
    ).with_columns(kind=messages.kind())
    telling = split.filter(pl.col("kind").is_not_null())
    return with_envelope(telling, reading).drop("prefix", "year")


def told_by(said: pl.DataFrame) -> pl.DataFrame:
    """Return columns as `parse` does, of messages whose envelope is no text.

    Args:
        said: Columns `number`, `line` (a message), `host`, `time_ns`, `boot_offset_ns`
            and `time_quality`; others are kept.
    """
    return (
        said.with_columns(message=messages.message(), prefix=messages.prefix())
        .with_columns(
            kind=messages.kind(),
            count=pl.lit(1, pl.Int64),
            naive=pl.lit(value=False),
            stamped=pl.lit(value=False),
        )
        .filter(pl.col("kind").is_not_null())
        .drop("line", "prefix")
    )


def events_of(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return rows of Failures with `place`, `rule` (why refused) and `naive`.

    Args:
        lines: Columns as `parse` returns them, in the order of the file; `place` where
            it is not the line of that number.
        reading: What is known about the file.
    """
    by_kernel = lines["kind"].is_in(["kernel"]).any()
    told = lines.with_columns(
        address=messages.address(),
        serial=messages.serial(),
        uuid=messages.uuid(),
        evidence=codes.evidence() if by_kernel else pl.lit(None, pl.Int16),
    )
    counted = fold_losses(_count_lines(_identify(_clock(told))))
    wanted = counted.filter(pl.col("kind").is_in([*EVENTS, "malformed"]))
    place = "place" if "place" in lines.columns else phrase("line {}", "number")
    rows = (
        codes.with_codes(wanted)
        .with_columns(
            cluster=pl.lit(reading.cluster),
            part=messages.part(),
            inferred=pl.col("kind").is_in(["off_bus", "off_bus_tail"]),
            place=place,
        )
        .filter(~((pl.col("kind") == "nic") & (pl.col("severity") == "info")))
    )
    rows = rows.with_columns(
        rule=_rule(),
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(_ALIKE),
    )
    return rows.select(*_stored(rows), "place", "rule", "naive")


def _stored(rows: pl.DataFrame) -> list[str]:
    return [name for name in Failures.column_names() if name in rows.columns]


def refusals_of(events: pl.DataFrame) -> tuple[Refusal, ...]:
    """Return the messages that are not events although they look like some."""
    refused = events.filter(pl.col("rule").is_not_null())
    return tuple(
        Refusal(Failures, place, rule, raw, _hint(rule, raw))
        for place, rule, raw in refused.select("place", "rule", "message").iter_rows()
    )


def _hint(rule: str, raw: str) -> str | None:
    if rule.startswith("xid_without") and "SXid" in raw:
        return "expected `SXid (PCI:0000:05:00.0): 12028, ...`"
    return _HINTS.get(rule)


def _rule() -> pl.Expr:
    return (
        pl.when(pl.col("kind") == "malformed")
        .then(pl.lit("xid_without_address_or_code"))
        .when((pl.col("source") == "xid") & (pl.col("code") == "0"))
        .then(pl.lit("xid_zero"))
        .when(pl.col("stamped") & pl.col("time_ns").is_null())
        .then(pl.lit(NO_SUCH_TIME))
    )


def _clock(lines: pl.DataFrame) -> pl.DataFrame:
    """Place times since boot by the clock that the kernel told at its start. [ns]"""
    told = pl.col("message").str.extract(CLOCK).cast(pl.Int64) * 1_000_000_000
    booted = (told - pl.col("boot_offset_ns")).forward_fill().over("host")
    relative = pl.col("time_quality") == "boot_relative"
    placed = pl.when(relative).then(booted + pl.col("boot_offset_ns"))
    return lines.with_columns(time_ns=pl.coalesce("time_ns", placed))


def _identify(lines: pl.DataFrame) -> pl.DataFrame:
    """Give events the best identity that their GPU has had in the file so far."""
    recent = pl.when(pl.col("kind").is_in(["uuid", "off_bus_head"])).then("address")
    line = pl.when(recent.is_not_null()).then("number")
    near = (pl.col("number") - line.forward_fill().over("host")) < MESSAGE_LINES
    lent = pl.when(
        near
        & (
            ((pl.col("kind") == "serial") & pl.col("address").is_null())
            | (pl.col("kind") == "off_bus_tail")
        )
    ).then(recent.forward_fill().over("host"))
    placed = (
        lines.with_columns(lent=lent)
        .join(mixed_heads(lines), on="number", how="left", maintain_order="left")
        .with_columns(address=pl.coalesce("address", "head_address", "lent"))
    )
    known = [
        pl.col(name).forward_fill().over("host", "address")
        for name in ("uuid", "serial")
    ]
    is_gpu = pl.col("kind").is_in([*OF_XID, "kernel"])
    key = pl.when(is_gpu & pl.col("address").is_not_null()).then(
        pl.coalesce(*known, "address")
    )
    return placed.with_columns(gpu_key=key)


def _count_lines(lines: pl.DataFrame) -> pl.DataFrame:
    """Count the lines of an event: its own and those that go on about it."""
    device = ("host", "address", "code_text")
    is_event = pl.col("kind").is_in(EVENTS)
    numbered = lines.with_columns(
        code_text=pl.col("message").str.extract(r"SXid \(PCI:[^)]+\): ([0-9]+)")
    ).with_columns(event=is_event.cast(pl.Int64).cum_sum().over(device))
    more = (pl.col("kind") == "sxid_more").sum().over(*device, "event")
    tail = (pl.col("kind") == "off_bus_tail") & pl.col("address").is_not_null()
    headed = tail & pl.col("message").str.starts_with("NVRM: fallen")
    return numbered.with_columns(
        line_count=pl.when(pl.col("kind") == "sxid")
        .then(1 + more)
        .when(headed)
        .then(pl.lit(3))
        .otherwise("count")
        .cast(pl.Int64)
    )
