"""Power of a GPU by what it does, and how GPUs differ for ever."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster.scenario import Scenario

#: Power by what a GPU does, as shares of what it may draw. A GPU that waits in a
#: collective spins: it draws less than one that moves data, and that less than one
#: that computes. [1]
COMPUTE: Final = 0.91
COMMUNICATION: Final = 0.52
WAIT: Final = 0.40
CHECKPOINT: Final = 0.27
LOADED: Final = 0.19
IDLE: Final = 0.14

#: Standard deviation of the lasting differences between GPUs. [1]
FACTOR_SD: Final = 0.018

#: What the driver's reading is off, from sample to sample. [W]
AVERAGE_SD_W: Final = 1.2
INSTANT_SD_W: Final = 6.0

#: Temperature of a GPU without power, and what a watt adds to it. [degC, degC/W]
COOLANT_C: Final = 27.0
PER_WATT_C: Final = 0.052

#: Spread of the temperatures of equal GPUs: their place in the box and rack. [degC]
PLACE_SD_C: Final = 1.5

#: How fast a GPU warms: time to 63 % of the way. [s]
LAG_S: Final = 40.0

#: How much more a fleet draws at the warmest time of the day: fans, leakage. [1]
DIURNAL: Final = 0.015

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Traits:
    """What tells a GPU from others, an entry for each.

    Attributes:
        factor: Its power over the usual. [1]
        place_c: How much warmer its place is. [degC]
        energy_mj: State of its energy counter when recording begins. [mJ]
        power_ns: State of its counter of time slowed for power. [ns]
        thermal_ns: The same for heat. [ns]
    """

    factor: Floats
    place_c: Floats
    energy_mj: NDArray[np.int64]
    power_ns: NDArray[np.int64]
    thermal_ns: NDArray[np.int64]

    @classmethod
    def of(cls, scenario: Scenario, gpus: int) -> Self:
        """Draw the traits of all GPUs."""
        draw = draws(scenario.seed, "power")
        days = draw.uniform(0.5, 40, gpus)
        return cls(
            factor=draw.normal(1, FACTOR_SD, gpus).clip(0.96, 1.04).astype(np.float32),
            place_c=draw.normal(0, PLACE_SD_C, gpus).astype(np.float32),
            energy_mj=(days * 0.7 * scenario.fleet.tdp_w * 86_400_000).astype(np.int64),
            power_ns=draw.integers(2_000, 9_000, gpus) * 1_000_000,
            thermal_ns=draw.integers(0, 50, gpus) * 1_000_000,
        )


def noise(scenario: Scenario) -> Floats:
    """Return noise of unit variance to cut pieces from, at any place. [1]"""
    return draws(scenario.seed, "power noise").standard_normal(1 << 20, np.float32)


def swing(time_ns: int) -> float:
    """Return how much more the fleet draws at a time: most at three o'clock. [1]"""
    hour = time_ns / 3.6e12 % 24
    return 1 + DIURNAL * float(np.cos((hour - 15) / 24 * 2 * np.pi))
