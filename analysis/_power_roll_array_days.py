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


def edges_of(block: Block, values: "Columns") -> "dict[str, Array | float | int]":
    """Return first and last values, and how often there were new ones.

    Args:
        block: Times of samples.
        values: Samples by column, None where there are none.
    """
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
            f"{short}_interval_ns": float(np.median(block.lengths)),
            f"{short}_refresh_ns": _refresh(block.times, samples),
        }
    return found | _of_held(block, values)


def _refresh(times: "Array", values: "Array") -> "Array":
    """Return the median time between two changes; NaN below two. [ns]"""
    changed = values[:, 1:] != values[:, :-1]
    usual = float(np.median(np.diff(times)))
    found = np.full(len(values), usual)
    for row in np.flatnonzero(~changed.all(axis=1)):
        at = np.append(0, np.flatnonzero(changed[row]) + 1)
        found[row] = np.median(np.diff(times[at])) if at.size > 1 else np.nan
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
        lengths = block.lengths[block.is_joined]
        usual = float(np.median(lengths)) if lengths.size else np.nan
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
