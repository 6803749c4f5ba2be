"""Samples of some GPUs, and when something keeps their clocks low."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Hindrance(NamedTuple):
    """A time in which a GPU's clock is low.

    Attributes:
        gpu: Position in the group.
        from_ns: When it begins. [ns]
        to_ns: When it is over. [ns]
        ratio: Time of own work over the usual. [1]
        kind: Kind of the fault.
    """

    gpu: int
    from_ns: int
    to_ns: int
    ratio: float
    kind: str


class Samples(NamedTuple):
    """Samples of a group; times x GPUs.

    Attributes:
        average: Mean power over the box. [dW]
        instant: Power. [dW]
        energy: Energy since the last sample. [mJ]
        temperature: Temperature of the chip. [degC]
        busy: Share of the row with a kernel. [%]
    """

    average: NDArray[np.uint16]
    instant: NDArray[np.uint16]
    energy: NDArray[np.uint32]
    temperature: NDArray[np.uint8]
    busy: NDArray[np.uint8]

    def since(self, time: int) -> "Samples":
        """Return what is left of them from one of the times on."""
        return Samples(
            self.average[time:],
            self.instant[time:],
            self.energy[time:],
            self.temperature[time:],
            self.busy[time:],
        )
