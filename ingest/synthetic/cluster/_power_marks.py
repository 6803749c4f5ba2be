"""What low clocks and restarts of nodes leave in the samples of their GPUs."""

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.synthetic.cluster._power_group import CLOCK_POWER
from ingest.synthetic.cluster._power_levels import COMPUTE
from ingest.synthetic.cluster._power_samples import Hindrance

#: Reasons for a low clock, as NVML numbers them.
GPU_IDLE: Final = 0x1
SW_POWER_CAP: Final = 0x4
SW_THERMAL: Final = 0x20

#: Clock of a GPU without work. [MHz]
IDLE_MHZ: Final = 345

#: Clocks are multiples of this. [MHz]
CLOCK_STEP_MHZ: Final = 15

#: Share of its work during which the driver holds a hindered GPU's clock down. [1]
HELD: Final = 0.93

#: Temperature at which a GPU is slowed for heat, and how fast it gets there.
SLOWED_C: Final = 87
RISE_C: Final = 4

Array = NDArray[np.generic]


class Marks:
    """Columns of one GPU, an entry for each time, that faults change."""

    def __init__(
        self,
        times_ns: NDArray[np.int64],
        idle: NDArray[np.bool_],
        clock_mhz: float,
        earlier: int = 0,
    ) -> None:
        """Begin with a healthy fleet: idle or at its full clock.

        Args:
            times_ns: Times of the samples. [ns]
            idle: Whether no run held the GPUs, at each.
            clock_mhz: Clock of an unhindered GPU. [MHz]
            earlier: Samples at the beginning that are not wanted, but counted. [1]
        """
        self.times_ns = times_ns
        self.idle = idle
        self.clock_mhz = clock_mhz
        self.earlier = earlier

    def clock(self, low: Iterable[Hindrance]) -> NDArray[np.float32]:
        """Return the clock of one GPU. [MHz]"""
        clock = np.where(self.idle, IDLE_MHZ, self.clock_mhz).astype(np.float32)
        for one in low:
            steps = round(self.clock_mhz / one.ratio / CLOCK_STEP_MHZ)
            clock[self.during(one)] = steps * CLOCK_STEP_MHZ
        return clock[self.earlier :]

    def reasons(self, low: Iterable[Hindrance]) -> NDArray[np.int64]:
        """Return the bits of the reasons for the clock of one GPU."""
        bits = np.where(self.idle, GPU_IDLE, 0).astype(np.int64)
        told = {"power_cap": SW_POWER_CAP, "thermal_cap": SW_THERMAL}
        for one in low:
            bits[self.during(one)] |= told.get(one.kind, 0)
        return bits[self.earlier :]

    def slowed(
        self,
        kind: str,
        low: Iterable[Hindrance],
        begun_ns: int,
        boots_ns: Iterable[int] = (),
    ) -> NDArray[np.int64]:
        """Return the counter of time slowed for a reason, of one GPU. [ns]

        Args:
            kind: Kind of the faults that it counts.
            low: Times in which the clock is low.
            begun_ns: What it shows when the run begins. [ns]
            boots_ns: When its node starts again. [ns]
        """
        boots = sorted(boots_ns)
        if boots and len(self.times_ns) and boots[0] <= self.times_ns[0]:
            begun_ns = 0
        counter = np.full(len(self.times_ns), begun_ns, np.int64)
        lasted = np.diff(self.times_ns, prepend=self.times_ns[:1])
        for one in low:
            if one.kind == kind:
                held = np.where(self.during(one), lasted, 0)
                counter += (np.cumsum(held) * HELD).astype(np.int64)
        return restarted(counter, self.times_ns, boots)[self.earlier :]

    def limit(
        self, low: Iterable[Hindrance], tdp_w: float, factor: float
    ) -> NDArray[np.float32]:
        """Return the power limit in force of one GPU: a cap is what it draws. [W]"""
        limit = np.full(len(self.times_ns), tdp_w, np.float32)
        for one in low:
            if one.kind == "power_cap":
                capped = tdp_w * factor * COMPUTE * one.ratio**-CLOCK_POWER
                limit[self.within(one)] = round(capped / 5) * 5
        return limit[self.earlier :]

    def heat(
        self, low: Iterable[Hindrance], usual: NDArray[np.generic]
    ) -> NDArray[np.uint8]:
        """Return the temperature of one GPU: slowed, it is as warm as it may be.

        Args:
            low: Times in which its clock is low.
            usual: Its temperature without, at the times that are wanted. [degC]
        """
        warm = usual.astype(np.int64)
        for one in low:
            if one.kind == "thermal_cap":
                during = self.during(one)
                risen = warm + RISE_C * np.cumsum(during)[self.earlier :]
                slowed = np.minimum(risen, SLOWED_C)
                warm = np.where(during[self.earlier :], slowed, warm)
        return warm.astype(np.uint8)

    def within(self, one: Hindrance) -> NDArray[np.bool_]:
        """Return whether each time is in that of a low clock."""
        return (self.times_ns >= one.from_ns) & (self.times_ns < one.to_ns)

    def during(self, one: Hindrance) -> NDArray[np.bool_]:
        """Return whether a clock is low at each time: only while a run is held."""
        return self.within(one) & ~self.idle


def restarted(
    counter: NDArray[np.int64],
    times_ns: NDArray[np.int64],
    boots_ns: Iterable[int],
) -> NDArray[np.int64]:
    """Return a counter that begins anew whenever its node starts."""
    since = np.zeros_like(counter)
    for boot_ns in sorted(boots_ns):
        after = int(np.searchsorted(times_ns, boot_ns))
        if 0 < after < len(counter):
            since[after:] = counter[after - 1]
    return counter - since
