"""Blind spots: what is not known, how much of it, and which file would tell."""

from collections.abc import Callable
from typing import Final

from analysis import Frames
from reports import (
    _blind_clocks,
    _blind_condensed,
    _blind_inputs,
    _blind_jobs,
    _blind_periods,
    _blind_retired,
    _blind_work,
)
from reports._blind_spot import BlindSpot
from reports._section import Scope

#: In order of weight: what hides most money comes first.
_LOOKS: Final[tuple[Callable[[Frames, Scope], BlindSpot | None], ...]] = (
    _blind_work.unattributed,
    _blind_work.unpaid,
    _blind_work.workers,
    _blind_jobs.unowned,
    _blind_jobs.disputed,
    _blind_jobs.hung,
    _blind_periods.apart,
    _blind_periods.outside,
    _blind_work.upper_bound,
    _blind_work.untraced,
    _blind_work.untested,
    _blind_inputs.unattributed_stops,
    _blind_inputs.prices,
    _blind_inputs.zones,
    _blind_work.incomplete,
    _blind_clocks.unconnected,
    _blind_work.clocks,
    _blind_inputs.unpowered,
    _blind_condensed.condensed,
    _blind_retired.retired,
    _blind_inputs.undated,
)


def found(frames: Frames, scope: Scope) -> list[BlindSpot]:
    """Return the blind spots that there are, in a fixed order of weight."""
    spots = [look(frames, scope) for look in _LOOKS]
    return [spot for spot in spots if spot is not None]
