"""What a day leaves to the next, of devices that are sampled together."""

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis._energy_choice import METHODS
from analysis._power_roll_block import Block
from analysis._power_roll_columns import SHORT
from analysis._throttle_times import COUNTERS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Columns = dict[str, Array | None]


def edges_of_day(
    block: Block, values: "Columns", ceiling: "Array"
) -> "dict[str, Array | float | int]":
    """Return what is kept of the day of each device.

    Args:
        block: Times of samples.
        values: Samples by column, None where there are none.
        ceiling: Most that each device is believed. [W]
    """
    told = _edges_of(block, values)
    gauge = values["last_xid"]
    if gauge is not None:
        told |= {"xid_first": gauge[:, 0], "xid_last": gauge[:, -1]}
        told |= {"xid_first_ns": block.times[0], "xid_last_ns": block.times[-1]}
    return told | {
        "first_ns": block.times[0],
        "last_ns": block.times[-1],
        "samples_count": block.times.size,
        "ceiling_w": np.where(np.isfinite(ceiling), ceiling, np.nan),
        "is_file_time": False,
    }


def _edges_of(block: Block, values: "Columns") -> "dict[str, Array | float | int]":
    """Return first and last values, and how often there were new ones."""
    found: dict[str, Array | float | int] = {}
    for column in METHODS.values():
        samples = values[column]
        if samples is None:
            continue
        short, unit = SHORT[column], "mj" if column == "energy_mj" else "w"
        found |= {
            f"{short}_first_ns": int(block.times[0]),
            f"{short}_last_ns": int(block.times[-1]),
            f"{short}_first_{unit}": samples[:, 0],
            f"{short}_last_{unit}": samples[:, -1],
            f"{short}_reads_count": block.times.size,
            f"{short}_interval_ns": block.usual_ns,
            f"{short}_refresh_ns": _refresh(block, samples),
        }
    return found | _of_held(block, values)


def _refresh(block: Block, values: "Array") -> "Array":
    """Return the median time between two changes; NaN below two. [ns]"""
    changed = values[:, 1:] != values[:, :-1]
    found = np.full(len(values), block.usual_ns)
    is_usual = changed.all(axis=1)
    if block.is_even and not is_usual.all():
        # most changes follow one right before them
        follow = np.count_nonzero(changed[:, 1:] & changed[:, :-1], axis=1)
        follow += changed[:, 0]
        is_usual |= 2 * follow > np.count_nonzero(changed, axis=1)
    for row in np.flatnonzero(~is_usual):
        at = np.append(0, np.flatnonzero(changed[row]) + 1)
        found[row] = np.median(np.diff(block.times[at])) if at.size > 1 else np.nan
    return found


def _of_held(block: Block, values: "Columns") -> "dict[str, Array | float | int]":
    """Return the ends of what is only looked at while runs hold the devices."""
    at = np.flatnonzero(block.hold >= 0)
    if not at.size:
        return {}
    first, last = int(at[0]), int(at[-1])
    ends = {"first": int(block.times[first]), "last": int(block.times[last])}
    found: dict[str, Array | float | int] = {}
    reasons = values["throttle_reasons"]
    if reasons is not None:
        usual = block.usual_of(block.is_joined)
        found |= {f"reasons_{name}_ns": time for name, time in ends.items()}
        found |= {"reasons_last": reasons[:, last], "reasons_interval_ns": usual}
    for cause, counter in COUNTERS.items():
        shown = values[counter]
        if shown is None:
            continue
        found |= {f"{cause}_{name}_ns": time for name, time in ends.items()}
        found[f"{cause}_first_counter_ns"] = shown[:, first]
        found[f"{cause}_last_counter_ns"] = shown[:, last]
    return found
