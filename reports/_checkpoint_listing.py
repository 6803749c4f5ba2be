"""Ways to choose an interval, replays of a run's own stops, and ways to write."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.checkpoint_bursts import CheckpointBursts
from analysis.checkpoint_replays import CheckpointReplays
from reports import _sql
from reports._checkpoint_shown import DASH, Row, Shown, every, per_day
from reports._numbers import THIN, duration, percent, significant, size
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import said

_METHODS: Final = {
    "in_use": "in use",
    "young": "Young",
    "daly": "Daly, higher order",
    "exact": "exact",
    "multi_level": "two tiers",
}

_SCHEMES: Final = {
    "direct": "straight to the store",
    "two_tier": "to the node, then to the store",
    "staggered": "to the node, then in turns",
}

_SCENARIOS: Final = {
    "as_was": "as it was",
    "best_interval": "best interval",
    "half_interval": "half the interval",
    "double_interval": "twice the interval",
    "half_restart": "half the restart",
}

_SQL: Final = """\
SELECT * FROM $table
WHERE run_id = $run"""

#: Standard errors of a 95 % interval.
_NORMAL: Final = 1.96


def listings(one: Shown, frames: Frames, scope: Scope) -> list[Listing]:
    """Return the tables of the run with most to win.

    Args:
        one: That run.
        frames: The tables.
        scope: Runs of the page.
    """
    mine = pl.col("run_id") == one.run_id
    replays = frames[CheckpointReplays].filter(mine).collect()
    bursts = frames[CheckpointBursts].filter(mine).collect()
    return [_plans(one, scope), *_replays(replays, one, scope), *_bursts(bursts, scope)]


def _plans(one: Shown, scope: Scope) -> Listing:
    rows = [one.plans[method] for method in _METHODS if method in one.plans]
    return Listing(
        title="Intervals between saves, and what they cost",
        columns=(
            Column("chosen by"),
            Column("interval", "Work between two saves.", is_number=True),
            Column("wasted", "Share of time without useful work.", is_number=True),
            Column("range", "Over the range of the MTBF.", is_number=True),
            Column("saved a day", "Against the interval in use.", is_number=True),
            Column("limits"),
        ),
        rows=[_plan(row, one.run_id, scope) for row in rows],
        sql=_query("checkpoint_plans", one.run_id),
    )


def _plan(row: Row, run_id: str, scope: Scope) -> tuple[str, ...]:
    saved = row["saved_gpu_ns_per_day"]
    is_used = row["method"] == "in_use"
    return (
        _METHODS[row["method"]],
        _intervals(row),
        _share(row["waste_ratio"]),
        _ends(row["waste_low_ratio"], row["waste_high_ratio"]),
        DASH if is_used else per_day(saved, run_id, scope),
        "; ".join(filter(None, [_limit(row), row["reason"]])),
    )


def _intervals(row: Row) -> str:
    if row["far_interval_ns"] is None:
        return every(row)
    return f"{every(row)}, far {duration(row['far_interval_ns'])}"


def _limit(row: Row) -> str:
    limits = {"flush": "not before the last save is safe", "step": "one step at least"}
    return limits.get(row["limited_by"] or "", "")


def _replays(rows: pl.DataFrame, one: Shown, scope: Scope) -> list[Listing]:
    if rows.is_empty():
        return []
    return [
        Listing(
            title="The run's own interruptions, replayed",
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
                for row in rows.head(MOST_ROWS).iter_rows(named=True)
            ],
            sql=_query("checkpoint_replays", one.run_id),
        )
    ]


def _replay(row: Row, scope: Scope) -> tuple[str, ...]:
    scenario = row["scenario"]
    told = _SCENARIOS.get(scenario) or said(scenario)
    is_base = scenario == "as_was"
    return (
        told,
        DASH if row["interval_ns"] is None else duration(row["interval_ns"]),
        _share(row["ettr_ratio"]),
        _with_error(row["drawn_ratio"], row["error_ratio"]),
        DASH
        if is_base
        else _with_error(row["change_ratio"], row["change_error_ratio"]),
        DASH if is_base else per_day(row["saved_gpu_ns_per_day"], row["run_id"], scope),
        "; ".join(filter(None, [_settled(row), row["reason"]])),
    )


def _settled(row: Row) -> str:
    """Say where a change is smaller than its error."""
    change, error = row["change_ratio"], row["change_error_ratio"]
    if change is None or error is None or row["scenario"] == "as_was":
        return ""
    return "within its error" if abs(change) < _NORMAL * error else ""


def _bursts(rows: pl.DataFrame, scope: Scope) -> list[Listing]:
    if rows.is_empty():
        return []
    return [
        Listing(
            title=f"Ways to write a save{_sized(rows.row(0, named=True))}",
            columns=(
                Column("written"),
                Column("burst over rate", "What writers push.", is_number=True),
                Column("store busy for", is_number=True),
                Column("stall", is_number=True),
                Column("safe after", is_number=True),
                Column("best interval", is_number=True),
                Column("wasted", is_number=True),
                Column("saved a day", is_number=True),
                Column("limits"),
            ),
            rows=[_burst(row, scope) for row in rows.iter_rows(named=True)],
            sql=_query("checkpoint_bursts", str(rows["run_id"][0])),
        )
    ]


def _sized(row: Row) -> str:
    if row["bytes"] is None:
        return ""
    store = row["store_gbs"]
    rate = f" to a store of {significant(store)}{THIN}GB/s" if store else ""
    basis = {
        "parameters": ", as 16 B a parameter or what the card says",
        "card": ", by the run card",
    }
    return f" of {size(row['bytes'])}{basis.get(row['bytes_basis'], '')}{rate}"


def _burst(row: Row, scope: Scope) -> tuple[str, ...]:
    demand = row["demand_ratio"]
    return (
        _SCHEMES[row["scheme"]],
        DASH if demand is None else f"{significant(demand)}\N{MULTIPLICATION SIGN}",
        *(
            DASH if row[column] is None else duration(row[column])
            for column in ("burst_ns", "stall_ns", "flush_ns", "interval_ns")
        ),
        _share(row["waste_ratio"]),
        per_day(row["saved_gpu_ns_per_day"], row["run_id"], scope),
        row["reason"] or "",
    )


def _share(value: float | None) -> str:
    return DASH if value is None else percent(value)


def _ends(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return DASH
    ends = ["unbounded" if end is None else percent(end) for end in (low, high)]
    return " to ".join(ends)


def _with_error(value: float | None, error: float | None) -> str:
    if value is None:
        return DASH
    shown = percent(value).replace("-", "\N{MINUS SIGN}")
    if error is None:
        return shown
    return f"{shown} \N{PLUS-MINUS SIGN} {percent(_NORMAL * error)}"


def _query(table: str, run_id: str) -> str:
    return _sql.filled(_SQL, table=table, run=_sql.literal(run_id))
