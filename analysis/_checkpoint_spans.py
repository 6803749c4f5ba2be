"""How long a failed node is away, a run was seen, and is meant to be."""

from collections.abc import Mapping
from typing import Any, Final

from ingest.times import HOUR_NS, SECOND_NS

#: Greatest number of a column, with room for sums.
_GREATEST: Final = 2**62

Row = Mapping[str, Any]


def repair_of(row: Row) -> dict[str, Any]:
    """Return how long a failed node is away: what was seen, else by the card. [ns]

    Args:
        row: What `gather` returns of a run.
    """
    if row["returns_ns"] is not None:
        return {"repair_ns": row["returns_ns"], "repair_basis": row["returns_basis"]}
    told = _whole(row["reliability_repair_h"], HOUR_NS)
    return {"repair_ns": told, "repair_basis": None if told is None else "run_card"}


def spans_of(row: Row) -> dict[str, Any]:
    """Return the time of the steps that the card plans, and the time seen. [ns]

    Args:
        row: What `gather` returns of a run.
    """
    step, seen = row["step_ns"], row["own_exposure_ns"]
    if step is None:
        step = _whole(row["step_s"], SECOND_NS)
    planned = None if step is None else _whole(row["planned_steps"], step)
    return {
        "planned_ns": planned,
        "seen_ns": None if seen is None else _whole(int(seen), 1),
    }


def _whole(value: float | None, unit: int) -> int | None:
    """Return a whole number, None where a card tells more than a column holds."""
    if value is None or value * unit > _GREATEST:
        return None
    return round(value * unit)
