"""Replays of a run as rows, with their errors and what makes them rough."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import polars as pl

from analysis._checkpoint_costs import Row, costs_of, day_of_gpus
from analysis._checkpoint_drawn import Drawn, drawn
from analysis._checkpoint_mtbf import FEW_EVENTS
from analysis._checkpoint_renewal import exact_ettr
from analysis._checkpoint_replayed import History
from analysis._checkpoint_scenarios import Played, Scenario, play, scenarios_of
from ingest.times import SECOND_NS

_NO_REPAIR: Final = (
    "spares need the time of a repair: nodes of later attempts, ends of failures in"
    " logs, or repair_h on the run card under [reliability]"
)

_FEW: Final = f"fewer than {FEW_EVENTS} interruptions: the error is rough"


def replays_of(
    run: Row, units: pl.DataFrame, redone_steps: int | None
) -> Iterator[dict[str, Any]]:
    """Yield a row of CheckpointReplays for each scenario.

    Args:
        run: Row of CheckpointEvidence.
        units: What `units_of` returns of the run.
        redone_steps: Steps that the run did again, where they are known.
    """
    failures = int(units["is_failed"].sum())
    named = {
        "run_id": run["run_id"],
        "stop_count": units.height,
        "failure_count": failures,
    }
    why = _why_not(run, failures)
    if why:
        yield {**named, "scenario": "as_was", "reason": why}
        return
    for row in _rows(run, units, failures):
        yield {**named, **row, **_seen(run, row["scenario"], redone_steps)}
    if run["repair_ns"] is None:
        yield {**named, "scenario": "spares_1", "spare_count": 1, "reason": _NO_REPAIR}


def _why_not(run: Row, failures: int) -> str | None:
    if not failures:
        return "no unplanned interruption to replay"
    if run["stall_ns"] is None:
        return "no source tells how long a save takes"
    if not run["interval_ns"] or not run["mtbf_ns"]:
        return "the interval in use is not known"
    return None


def _rows(run: Row, units: pl.DataFrame, failures: int) -> Iterator[dict[str, Any]]:
    history = _history(units)
    up = float(history.up_s.sum())
    if not up:
        yield {"scenario": "as_was", "reason": "no attempt was up for any time"}
        return
    scenarios = scenarios_of(run, costs_of(run, round(up / failures * SECOND_NS)))
    played = [play(run, history, one) for one in scenarios]
    found = drawn(history, played)
    means: list[Drawn | None] = [*found] if found else [None] * len(played)
    caveat = _FEW if failures < FEW_EVENTS else None
    for one, mean in zip(played, means, strict=True):
        change = mean.change if mean else None
        yield {
            "scenario": one.scenario.name,
            **_setting(one.scenario),
            **_told(one, mean),
            "saved_gpu_ns_per_day": _per_day(run, change),
            "exact_ratio": _exact(one.scenario),
            "reason": caveat,
        }


def _seen(run: Row, scenario: str, steps: int | None) -> dict[str, Any]:
    """Return what the run really did again, beside the replay as it was."""
    if scenario != "as_was" or steps is None or not run["step_ns"]:
        return {}
    return {"seen_rework_ns": steps * run["step_ns"]}


def _setting(scenario: Scenario) -> dict[str, Any]:
    return {
        "interval_ns": round(scenario.interval_s * SECOND_NS),
        "restart_ns": round(scenario.costs.restart_s * SECOND_NS),
        "spare_count": scenario.spares,
    }


def _told(one: Played, mean: Drawn | None) -> dict[str, Any]:
    waited = one.waited_s
    return {
        "ettr_ratio": one.replayed.ratio,
        "drawn_ratio": mean.ratio if mean else None,
        "error_ratio": mean.error if mean else None,
        "change_ratio": mean.change if mean else None,
        "change_error_ratio": mean.change_error if mean else None,
        "rework_ns": round(float(one.replayed.rework_s.sum()) * SECOND_NS),
        "waiting_ns": None if waited is None else round(waited * SECOND_NS),
    }


def _exact(scenario: Scenario) -> float | None:
    """Return the exact share; none with spares, of which it knows nothing."""
    if scenario.spares is not None:
        return None
    return exact_ettr(scenario.interval_s, scenario.costs)


def _per_day(run: Row, change: float | None) -> Decimal | None:
    day = day_of_gpus(run)
    return None if day is None or change is None else Decimal(round(change * day))


def _history(units: pl.DataFrame) -> History:
    times = (units[name].to_numpy() / SECOND_NS for name in ("up_ns", "away_ns"))
    flags = (units[name].to_numpy() for name in ("is_failed", "takes_node"))
    up, away = times
    failed, takes = flags
    return History(up, away, failed, takes)
