"""When something is a cause: every threshold of the ladder, with its reason."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Final, Self

from analysis._analysis import Thresholds

#: Share of the excess that something must make up to be its cause. [1]
CAUSE_SHARE: Final = 0.5

#: Utilization, or share of its power limit, from which a GPU is under load. [1]
LOADED: Final = 0.5

#: Share of its time that a GPU must be slowed beyond its peers. Under one power limit
#: all GPUs touch it now and then: what all share slows nobody in particular. [1]
MORE_OFTEN: Final = 0.05

#: Share of the limit from which a board counts as at its limit: sensors are good to
#: some 5 W of 700 W, and regulators keep a little below. [1]
AT_LIMIT: Final = 0.98

#: Share beyond that of the peers from which being at the limit is a cause: samples of
#: a second apart catch a limit less often than counters do. [1]
MORE_AT_LIMIT: Final = 0.25

#: Limit over the job's median below which a board has a limit of its own. [1]
LOW_LIMIT: Final = 0.97

#: Clock over the job's median below which the clock is a cause: healthy GPUs of a job
#: differ by a step or two of 15 MHz. [1]
LOW_CLOCK: Final = 0.97

#: Rate of a port's counters over that of the job's median port. [1]
MORE_ON_LINK: Final = 3.0

#: Power over the job's median below which a busy GPU does not work, but waits. [1]
LITTLE_POWER: Final = 0.9

#: Share of the time in which it is then busy. [1]
BUSY: Final = 0.9

#: A forward pass longer than is typical by this much has paused: collecting garbage
#: takes hundreds of milliseconds. [ns]
#: Source: arXiv 2505.05713, section 5.4.
PAUSE_NS: Final = 100_000_000

#: Share of forward passes with a pause above which it is no pause. [1]
MOST_PAUSED: Final = 0.5

#: Length over the typical from which a micro-batch is a slow cell. [1]
SLOW_CELL: Final = 1.1

#: Share of slow micro-batches from which they are not scattered, but all. [1]
ALL_CELLS: Final = 0.9

#: Correlation of forward with backward passes from which lengths of sequences speak.
#: Source: arXiv 2505.05713, section 5.3.
MOST_ALIKE: Final = 0.9

#: Sd of a stage's micro-batches below which they are all as long. [1]
LEAST_SPREAD: Final = 0.05

#: What settings call a limit: this, and its name here.
_PREFIX: Final = "straggler_"


@dataclass(frozen=True, slots=True)
class CauseLimits:
    """When something is a cause.

    Attributes:
        cause_share: Share of the excess that a cause makes up. [1]
        loaded_share: Utilization, or share of the power limit, of a GPU at work. [1]
        slowed_share: Share of time slowed beyond the job's median. [1]
        at_limit_ratio: Power over its limit from which a board is at it. [1]
        at_limit_share: Share of samples at the limit beyond the job's median. [1]
        low_limit_ratio: Limit over the job's median that is low. [1]
        low_clock_ratio: Clock over the job's median that is low. [1]
        link_ratio: Rate of a port's counters over the job's median that is high. [1]
        victim_power_ratio: Power over the job's median of what waits. [1]
        victim_busy_share: Utilization of what waits. [1]
        pause_ns: Length beyond the typical of a pass that has paused. [ns]
        paused_share: Share of passes with a pause above which it is none. [1]
        slow_cell_ratio: Length over the typical of a slow micro-batch. [1]
        slow_cells_share: Share of slow micro-batches from which all are. [1]
        length_correlation: Of forward with backward passes where lengths differ. [1]
        length_spread: Sd of micro-batches where lengths differ. [1]
    """

    cause_share: float = CAUSE_SHARE
    loaded_share: float = LOADED
    slowed_share: float = MORE_OFTEN
    at_limit_ratio: float = AT_LIMIT
    at_limit_share: float = MORE_AT_LIMIT
    low_limit_ratio: float = LOW_LIMIT
    low_clock_ratio: float = LOW_CLOCK
    link_ratio: float = MORE_ON_LINK
    victim_power_ratio: float = LITTLE_POWER
    victim_busy_share: float = BUSY
    pause_ns: float = PAUSE_NS
    paused_share: float = MOST_PAUSED
    slow_cell_ratio: float = SLOW_CELL
    slow_cells_share: float = ALL_CELLS
    length_correlation: float = MOST_ALIKE
    length_spread: float = LEAST_SPREAD

    @classmethod
    def of(cls, thresholds: Thresholds) -> Self:
        """Take the limits from settings."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: thresholds[f"{_PREFIX}{name}"] for name in names})


#: Thresholds that may be set, by name.
CAUSE_THRESHOLDS: Final[Mapping[str, float]] = {
    f"{_PREFIX}{name}": float(value) for name, value in asdict(CauseLimits()).items()
}
