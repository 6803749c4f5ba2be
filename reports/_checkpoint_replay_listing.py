"""A run's own interruptions under another interval, restart or number of spares."""

from typing import Final

import polars as pl

from reports._checkpoint_cells import ordered, query, share
from reports._checkpoint_shown import DASH, Row, per_day
from reports._numbers import duration, percent
from reports._section import Column, Listing, Scope

_SCENARIOS: Final[dict[str, str]] = {
    "as_was": "as it was",
    "best_interval": "best interval",
    "half_interval": "half the interval",
    "double_interval": "twice the interval",
    "half_restart": "half the restart",
    "spares_0": "no spare node",
    "spares_1": "1 spare node",
    "spares_2": "2 spare nodes",
    "spares_4": "4 spare nodes",
}

#: Standard errors of a 95 % interval.
NORMAL: Final = 1.96


def listing(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the table of replays, that as it was first.

    Args:
        rows: Rows of CheckpointReplays of one run.
        scope: Runs of the page.
    """
    if rows.is_empty():
        return []
    return [
        Listing(
            title=f"The run's own interruptions, replayed{_roughness(rows)}",
            columns=(
                Column("changed"),
                Column("interval", "Work between two saves.", is_number=True),
                Column("useful", "Its own stops, as they fell.", is_number=True),
                Column("useful, drawn", "Mean, with 95 % interval.", is_number=True),
                Column("change", "With 95 % interval.", is_number=True),
                Column("saved a day", is_number=True),
                Column("limits"),
            ),
            rows=[
                _replay(row, scope)
                for row in ordered(rows, "scenario", list(_SCENARIOS))
            ],
            sql=query("checkpoint_replays", str(rows["run_id"][0])),
        )
    ]


def _replay(row: Row, scope: Scope) -> tuple[str, ...]:
    scenario = row["scenario"]
    is_base = scenario == "as_was"
    return (
        _SCENARIOS[scenario],
        DASH if row["interval_ns"] is None else duration(row["interval_ns"]),
        share(row["ettr_ratio"]),
        _level(row["drawn_ratio"], row["error_ratio"]),
        DASH
        if is_base
        else _with_error(row["change_ratio"], row["change_error_ratio"]),
        DASH if is_base else per_day(row["saved_gpu_ns_per_day"], row["run_id"], scope),
        _settled(row) or (row["reason"] or "" if row["ettr_ratio"] is None else ""),
    )


def _settled(row: Row) -> str:
    """Say where a change is smaller than its error."""
    change, error = row["change_ratio"], row["change_error_ratio"]
    if change is None or error is None or row["scenario"] == "as_was":
        return ""
    return "within its error" if abs(change) < NORMAL * error else ""


def _roughness(rows: pl.DataFrame) -> str:
    """Return why errors of replays are rough, as a part of the title."""
    reasons = rows.filter(pl.col("ettr_ratio").is_not_null())["reason"].drop_nulls()
    return f" ({reasons[0]})" if reasons.len() else ""


def _level(value: float | None, error: float | None) -> str:
    """Return a share with its error, which is not told where it leaves the scale."""
    if value is None or error is None:
        return _with_error(value, None)
    inside = NORMAL * error <= min(value, 1 - value)
    return _with_error(value, error) if inside else f"{percent(value)}, not settled"


def _with_error(value: float | None, error: float | None) -> str:
    if value is None:
        return DASH
    shown = percent(value).replace("-", "\N{MINUS SIGN}")
    if error is None:
        return shown
    return f"{shown} \N{PLUS-MINUS SIGN} {percent(NORMAL * error)}"
