"""What a repair means for the operations of a trace, or why they cannot tell."""

from collections.abc import Callable, Mapping
from typing import Final

from analysis import _whatif_fix_kinds as kinds
from analysis import _whatif_fix_places as places
from analysis._repairs import Kind, Repair
from analysis._whatif_fix import Fix, Trace

_UNTOLD: Final[Mapping[Kind, str]] = {
    "data": "a trace of operations does not tell how long input was waited for",
    "checkpoint": "a trace of operations does not tell of checkpoints",
}


def fix(repair: Repair, trace: Trace) -> Fix | str:
    """Return what a repair means for a trace, or why the trace cannot tell.

    Args:
        repair: What is repaired.
        trace: The trace and its seats.
    """
    read = _FIXES.get(repair.kind)
    return read(repair, trace) if read else _UNTOLD[repair.kind]


_FIXES: Final[Mapping[Kind, Callable[[Repair, Trace], Fix | str]]] = {
    "rank": places.of_seats,
    "gpu": places.of_seats,
    "host": places.of_seats,
    "rack": places.of_seats,
    "replica": places.of_seats,
    "stage": places.of_stage,
    "workers": places.of_workers,
    "link": places.of_transfers,
    "clocks": places.of_clocks,
    "kind": kinds.of_kind,
    "everything": lambda _, trace: kinds.everything(trace),
    "communication": kinds.of_communication,
    "gc": kinds.of_garbage,
    "sequence-lengths": kinds.of_lengths,
}
