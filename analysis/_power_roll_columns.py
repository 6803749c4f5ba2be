"""What is kept of an hour of a device: names that several tables and lanes share."""

from typing import Final

from analysis._energy_choice import METHODS
from analysis._throttle_times import CAUSES

#: Short name of each method of measuring energy, by its column of power samples.
SHORT: Final = {
    column: name.removeprefix("trapezoid_") for name, column in METHODS.items()
}

#: What a piece keeps of each method: milliwatt-seconds, so that sums are exact.
OF_POWER: Final = ("mj", "measured_ns", "gap_ns", "samples_count", "edge_w", "peak_w")
OF_COUNTER: Final = (
    *("mj", "measured_ns", "gap_ns", "samples_count"),
    *("credit_mj", "jump_ns", "reset_ns"),
)

#: Bits of each cause.
MASKS: Final = {cause: mask for cause, (mask, _) in CAUSES.items()}

#: Cause of each counter of time slowed.
COUNTED: Final = {counter: cause for cause, (_, counter) in CAUSES.items() if counter}

#: Doubts of a piece that are of one method, and the mark each ends in.
OF_METHOD: Final = {"is_blank": "blank", "is_stale": "stale", "is_above": "above"}

#: Doubts of a piece whatever the method.
OF_PIECE: Final = (
    "is_module",
    "is_assumed_zone",
    "is_file_time",
    "is_resampled",
    "is_repeated",
    "is_disagreeing",
)
