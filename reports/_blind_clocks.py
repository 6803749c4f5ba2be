"""What is not known of clocks."""

from analysis import Frames
from analysis.clock_offsets import ClockOffsets
from reports._blind_spot import BlindSpot
from reports._clock_words import unknown_clocks
from reports._section import Scope
from reports._words import plural


def unconnected(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the clocks that no collective connects to the others."""
    clocks = scope.of_runs(frames[ClockOffsets]).collect()
    lost = unknown_clocks(clocks)
    if not lost:
        return None
    return BlindSpot(
        "Waits between clocks that no collective connects",
        f"{len(lost)} of {plural(clocks['clock'].n_unique(), 'clock')}",
        "traces that hold a collective of all hosts, or the host of each rank",
    )
