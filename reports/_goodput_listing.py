"""Runs and their shares of time, and the definition beside each number."""

from typing import Any, Final

import polars as pl

from reports._goodput_measures import MEASURES
from reports._goodput_peers import PEERS
from reports._numbers import grouped, percent
from reports._runs import MOST_ROWS
from reports._section import Column, Listing
from reports._words import name

#: What stands where a number cannot be known.
_UNKNOWN: Final = "unknown"

_MFU: Final = (
    "6 x active parameters x tokens, over peak x GPUs x time in steps that counted",
    "PaLM, arXiv 2204.02311",
)

_PAID_MFU: Final = (
    "the same FLOPs, over peak x all GPU time that was paid for",
    "this product",
)

#: Shares of each run, columns of `goodput`.
_OF_RUNS: Final = ("ettr", "training", "goodput", "mfu")

_SQL: Final = "SELECT * FROM goodput ORDER BY paid_gpu_ns DESC, run_id"


def definitions(row: dict[str, Any]) -> Listing:
    """Return each share of one run, with what is divided by what, and who says so."""
    shares = [
        (
            *(one.label, _said(row[one.column]), one.definition, one.source),
            _published(one.column),
        )
        for one in MEASURES
    ]
    mfu = [
        ("MFU", _said(row["mfu_ratio"], row["mfu_reason"]), *_MFU, ""),
        (
            *("MFU of paid", _said(row["paid_mfu_ratio"], row["mfu_reason"])),
            *(*_PAID_MFU, ""),
        ),
    ]
    return Listing(
        title=f"Each number of {name(str(row['run_id']), 40)} and its one definition",
        columns=(
            Column("Share"),
            Column("Value", is_number=True),
            Column("Is"),
            Column("As defined by"),
            Column("Published of the same", "As their authors say; > is at least."),
        ),
        rows=[*shares, *mfu],
    )


def _published(column: str) -> str:
    """Return who published a share of the same, with what it is said to be of."""
    return "; ".join(
        f"{'> ' if peer.is_least else ''}{percent(peer.ratio)} {peer.label}:"
        f" {peer.definition}"
        for peer in PEERS
        if peer.column == column
    )


def runs(rows: pl.DataFrame) -> Listing:
    """Return the shares of the runs that were paid most for.

    Args:
        rows: Rows of Goodput, the most paid first.
    """
    shown = rows.head(MOST_ROWS)
    left = rows.height - shown.height
    return Listing(
        title="Runs, the most paid for first",
        columns=(
            Column("Run"),
            Column("ETTR", is_number=True),
            Column("In steps, of paid", is_number=True),
            Column("Goodput", is_number=True),
            Column("MFU", is_number=True),
            Column("Stops, planned", is_number=True),
            Column("Steps kept", is_number=True),
            Column("Done again", is_number=True),
            Column("Unknown because"),
        ),
        rows=[_row(row) for row in shown.iter_rows(named=True)],
        more=f"{grouped(left)} more runs" if left else "",
        sql=_SQL,
    )


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    stops = f"{grouped(row['interruptions_count'])}, {grouped(row['planned_count'])}"
    return (
        name(row["run_id"], 30),
        *(_said(row[f"{one}_ratio"]) for one in _OF_RUNS),
        stops,
        _count(row["steps_kept"]),
        _count(row["steps_repeated"]),
        _reasons(row),
    )


def _reasons(row: dict[str, Any]) -> str:
    """Say why shares are not known: of time first, of MFU where that is another."""
    of_time, of_mfu = row["unknown_reason"], row["mfu_reason"]
    mfu = f"MFU: {of_mfu}" if of_mfu and of_mfu != of_time else ""
    return ", ".join(text for text in (of_time, mfu) if text)


def _count(value: int | None) -> str:
    return _UNKNOWN if value is None else grouped(value)


def _said(ratio: float | None, reason: str | None = None) -> str:
    if ratio is not None:
        return percent(ratio)
    return f"{_UNKNOWN}: {reason}" if reason else _UNKNOWN
