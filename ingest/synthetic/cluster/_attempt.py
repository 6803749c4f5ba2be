"""An attempt of the run."""

from dataclasses import dataclass

from ingest.synthetic.cluster.clock import Clock
from ingest.synthetic.cluster.faults import PlacedFault


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of the run. Times in ns since the epoch.

    Attributes:
        number: Position among the attempts, as the scheduler counts restarts.
        submitted_ns: When it was submitted.
        start_ns: When it started; a whole second.
        begin_ns: When its first step began, or would have.
        stood_ns: From when on no step was completed.
        signed_ns: First sign that it was over; its end where it was not stopped.
        end_ns: When it ended; a whole second.
        first_step: Number of its first step.
        kept: Of its steps those that are not done again. [1]
        stop: Fault that stopped it; None where it went on to the end.
        is_cut: Whether its time ended before the stop ended it: nobody heard of that.
        clock: Its steps; those that were completed by all ranks.
    """

    number: int
    submitted_ns: int
    start_ns: int
    begin_ns: int
    stood_ns: int
    signed_ns: int
    end_ns: int
    first_step: int
    kept: int
    stop: PlacedFault | None
    clock: Clock
    is_cut: bool = False

    @property
    def steps(self) -> int:
        """Steps that it completed. [1]"""
        return self.clock.steps
