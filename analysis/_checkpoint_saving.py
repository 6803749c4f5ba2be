"""Interval, stall and flush of a run: the best evidence of each.

What is until a save was done stalls no longer than that, and where steps went on
meanwhile it does not tell what stalled.
"""

from collections.abc import Mapping
from typing import Any, Final

from ingest.times import SECOND_NS

#: Share of the time until a save is done that the run must have had beside its steps:
#: with less, steps went on meanwhile, and what stood still is not known. [1]
LEAST_HELD_RATIO: Final = 0.5

#: Share of the interval below which that time is no more than what steps differ by. [1]
LEAST_TOLD_RATIO: Final = 0.1

#: From so many steps between saves on, the median step is one without a save. [1]
_STEPS_APART: Final = 3

#: Greatest number of a column, with room for sums.
_GREATEST: Final = 2**62

Row = Mapping[str, Any]


def saving(row: Row) -> dict[str, Any]:
    """Return interval, stall and flush; only the stall is a cost to the work.

    Args:
        row: What `gather` returns of a run.
    """
    every, every_basis = best(
        saves=row["interval_ns"],
        steps=row["steps_interval_ns"],
        card=seconds(row["checkpoint_interval_s"]),
    )
    apart = every if every_basis == "saves" and row["stall_ns"] is None else None
    stall, stall_basis = best(
        saves=row["stall_ns"],
        steps=_within(apart, row["steps_stall_ns"]),
        card=_within(apart, seconds(row["checkpoint_stall_s"])),
        held=_held(row),
    )
    steps = {"saves": row["interval_steps"], "steps": row["steps_interval_steps"]}
    if apart is not None and stall is not None:
        every = apart - stall
    return {
        "interval_ns": every,
        "interval_steps": steps.get(every_basis),
        "interval_basis": every_basis,
        "stall_ns": stall,
        "stall_basis": stall_basis,
        "flush_ns": first(row["flush_ns"], row["held_ns"]),
    }


def _within(apart_ns: int | None, stall_ns: int | None) -> int | None:
    """Return a stall, None where saves begin closer together than it is long. [ns]"""
    if apart_ns is None or stall_ns is None or stall_ns < apart_ns:
        return stall_ns
    return None


def _held(row: Row) -> Any:
    """Return the time until a save was done where training may have stood still. [ns]

    None where the next save begins before, or steps leave no room for it: then it is
    written beside them.
    """
    held, every, steps = row["held_ns"], row["interval_ns"], row["interval_steps"]
    if held is None or every is None or row["stall_ns"] is not None:
        return held
    room = every
    is_long = held >= LEAST_TOLD_RATIO * every
    if is_long and row["step_ns"] and steps and steps >= _STEPS_APART:
        room = every - steps * row["step_ns"]
    return None if held >= every or room < LEAST_HELD_RATIO * held else held


def best(**told: Any) -> tuple[Any, str]:
    """Return the first value that is known with its name, else None and `none`."""
    known = ((value, name) for name, value in told.items() if value is not None)
    return next(known, (None, "none"))


def first(*values: Any) -> Any:
    """Return the first value that is known, else None."""
    return next((value for value in values if value is not None), None)


def seconds(value: float | None) -> int | None:
    """Return a time of seconds, None where it is not known. [ns]"""
    return whole(None if value is None else value * SECOND_NS)


def whole(value: float | None) -> int | None:
    """Return a whole number, None where a card tells more than a column holds."""
    return None if value is None or value > _GREATEST else round(value)
