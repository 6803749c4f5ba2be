"""The clock of an attempt: when its steps start, and what each of them takes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Whole microseconds, or numbers of steps.
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Clock:
    """What all ranks share of the steps of an attempt, an entry for each. Times in us.

    A step is: wait for the input, work, wait for the slowest, communicate, stand idle,
    wait for the checkpoint. All ranks start and end it together.

    Attributes:
        start: Start, since the attempt's first step began.
        duration: Wall time.
        data: Time that a rank waits for its input.
        healthy: Longest own work of the ranks that nothing ever happens to.
        arrived: When the last rank is done with its work, since the step's start.
        communication: Time of communication of a rank whose links are well.
        slowest_link: That of the rank with the slowest link.
        idle: Time in which no kernel runs.
        checkpoint: Time that the step waits for a checkpoint.
        common: What every rank's work is multiplied by. [1]
    """

    start: Ints
    duration: Ints
    data: Ints
    healthy: Ints
    arrived: Ints
    communication: Ints
    slowest_link: Ints
    idle: Ints
    checkpoint: Ints
    common: npt.NDArray[np.float64]

    @property
    def steps(self) -> int:
        """Steps of the attempt. [1]"""
        return len(self.start)
