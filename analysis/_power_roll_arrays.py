"""What is kept of devices that are sampled together, in arrays of devices by times."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._energy_samples import STALE_SAMPLES
from analysis._energy_segments import COUNTER_LAG_NS
from analysis._power_roll_block import Block, Line, allowed
from analysis._power_roll_columns import SHORT
from analysis._straggler_cause_limits import LOADED
from analysis._throttle_times import CAUSES, COUNTERS
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]
    Columns = dict[str, Array | None]

#: Columns of power.
POWERS: Final = ("power_average_w", "power_instant_w")


def is_plain(block: Block, values: "Columns", ceiling: "Array") -> "Array":
    """Return whether nothing of a device is to be doubted.

    Args:
        block: Times of its samples.
        values: Samples by column, None where there are none.
        ceiling: Most that each device is believed. [W]
    """
    plain = np.ones(ceiling.size, dtype=bool)
    for column in POWERS:
        power = values[column]
        if power is not None:
            plain &= power.max(axis=1) <= ceiling
            plain &= ~_stands_still(power)
    energy = values["energy_mj"]
    if energy is not None:
        rise = np.diff(energy, axis=1)
        most = ceiling[:, None] * (block.lengths + COUNTER_LAG_NS) * 1_000 / SECOND_NS
        plain &= ((rise > 0) & (rise <= most)).all(axis=1)
    return plain


def _stands_still(values: "Array") -> "Array":
    """Return whether a value is the same for too many samples in a row."""
    same = values[:, 1:] == values[:, :-1]
    for step in (1, 2, 2, STALE_SAMPLES - 5 - 1):
        # so many in a row, and so many again from a few later on
        same = same[:, :-step] & same[:, step:] if same.shape[1] > step else same[:, :0]
    return np.asarray(same.any(axis=1))


def of_power(block: Block, power: "Array", bridges: Bridges) -> "dict[str, Array]":
    """Return what is kept of hours by samples of power.

    Args:
        block: Times of samples.
        power: A row for each device. [W]
        bridges: Which silences are bridged.
    """
    line = Line(block, power, bridges)
    return {
        "mj": np.rint(line.energy_j() * 1_000).astype(np.int64),
        "measured_ns": line.lengths_ns(measured=True),
        "gap_ns": line.lengths_ns(measured=False),
        "samples_count": block.counts,
        "edge_w": line.edges_w(),
        "peak_w": block.highest(power),
    }


def of_counter(block: Block, energy: "Array") -> "dict[str, Array]":
    """Return what is kept of hours by the counter of energy.

    Args:
        block: Times of samples.
        energy: A row for each device. [mJ]
    """
    at, after = block.at_edges(energy), block.after_edges(energy)
    part = block.since / block.silences(block.lengths)
    shown = (after - at) * part
    whole = at[:, 1:] - at[:, :-1]
    none = np.zeros(block.counts.size, dtype=np.int64)
    return {
        "mj": np.rint(whole + shown[:, 1:] - shown[:, :-1]).astype(np.int64),
        "measured_ns": np.diff(block.cuts.edges),
        "gap_ns": none,
        "samples_count": block.counts,
        "credit_mj": none,
        "jump_ns": none,
        "reset_ns": none,
    }


def of_methods(block: Block, values: "Columns", bridges: Bridges) -> "dict[str, Array]":
    """Return the columns of hours of every method that there is.

    Args:
        block: Times of samples.
        values: Samples by column, None where there are none.
        bridges: Which silences are bridged.
    """
    found: dict[str, Array] = {}
    for method, column in METHODS.items():
        samples = values[column]
        if samples is None:
            continue
        told = (
            of_counter(block, samples)
            if method == "counter"
            else of_power(block, samples, bridges)
        )
        found |= {f"{SHORT[column]}_{name}": value for name, value in told.items()}
    return found


def slowed(block: Block, values: "Columns", bridges: Bridges) -> "dict[str, Array]":
    """Return the time slowed of each device and piece.

    Args:
        block: Times of samples.
        values: Samples by column, None where there are none.
        bridges: For how long a sample stands for what follows it.
    """
    found: dict[str, Array] = {}
    joined = block.is_joined
    reasons = values["throttle_reasons"]
    if reasons is not None:
        usual = block.usual_of(joined)
        longest = int(allowed(bridges, usual)) if joined.any() else 0
        stands = np.where(joined, np.minimum(block.lengths, longest), 0)
        stands = np.append(stands, 0)
        found["bits_observed_ns"] = block.summed(stands)
        for cause, (mask, _) in CAUSES.items():
            told = (reasons & mask) != 0
            found[f"{cause}_bits_ns"] = (
                block.summed(np.where(told, stands, 0))
                if told.any()
                else np.zeros(block.counts.size, dtype=np.int64)
            )
    for cause, counter in COUNTERS.items():
        shown = values[counter]
        if shown is None:
            continue
        lengths = np.append(np.where(joined, block.lengths, 0), 0)
        rise = np.diff(shown, axis=1)
        rise = np.where(rise < 0, shown[:, 1:], rise)
        slow = np.pad(np.minimum(rise, lengths[:-1]), ((0, 0), (0, 1)))
        found[f"{cause}_counter_ns"] = block.summed(slow)
        found[f"{cause}_observed_ns"] = block.summed(lengths)
    return found


def loads(block: Block, values: "Columns") -> "dict[str, Array]":
    """Return means under load of each device and piece, and of how many samples.

    Args:
        block: Times of samples.
        values: Samples by column, None where there are none; limits NaN where none.
    """
    power = next((values[c] for c in POWERS if values[c] is not None), None)
    held = block.hold >= 0
    loaded = _under_load(power, values) & held
    told = {
        "loaded_clock_mhz": ("loaded_clock_count", values["sm_clock_mhz"], loaded),
        "loaded_w": ("loaded_w_count", power, loaded),
        "utilization_ratio": ("utilization_count", values["utilization_ratio"], held),
    }
    found: dict[str, Array] = {}
    for name, (count, samples, among) in told.items():
        if samples is None:
            found[count] = np.zeros(block.counts.size, dtype=np.int64)
            continue
        of = block.summed(among.astype(np.int64))
        total = block.summed(samples * among)
        found[count] = of
        found[name] = np.where(of > 0, total / np.maximum(of, 1), np.nan)
    return found


def _under_load(power: "Array | None", values: "Columns") -> "Array":
    utilization, limit = values["utilization_ratio"], values["power_limit_w"]
    if utilization is not None:
        return np.asarray(utilization >= LOADED)
    if power is not None and limit is not None:
        return np.asarray(~(power < LOADED * limit))
    return np.ones((1, 1), dtype=bool)
