"""What each fault that makes steps longer costs: the same seed without it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ingest.synthetic.cluster._felt import Felt, Ints, Touch, feel
from ingest.synthetic.cluster._raw_steps import RawSteps, raw_steps
from ingest.synthetic.cluster._work import Floats
from ingest.synthetic.cluster.calendar import Attempt
from ingest.synthetic.cluster.cluster import Cluster

_US = 1_000


@dataclass
class Spell:
    """Where a fault was felt, and what it cost. GPU time in ns.

    Attributes:
        pieces: For each attempt that it touched: its number, the first and the last
            step, when the one began and the other ended. [ns]
        solo: What it alone costs, against no fault at all.
        joint: What less is lost of all faults together if only it is gone.
        ratios: What its ranks take over a usual one, in each step. [1]
    """

    pieces: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    solo: int = 0
    joint: int = 0
    ratios: list[Floats] = field(default_factory=list)


def slow_costs(cluster: Cluster) -> dict[int, Spell]:
    """Return what faults cost that make steps longer, by their numbers.

    Only steps that a fault touches are run again. Their draws and the time of day are
    those of the run, and which steps a fault touches is held: they are compared one by
    one. So what it costs alone is not to the nanosecond what a run with it alone would
    show: there its steps come earlier in the day, and a stop may not repeat them.
    """
    found: dict[int, Spell] = defaultdict(Spell)
    for attempt in cluster.attempts:
        if not attempt.clock.touches:
            continue
        raw = raw_steps(cluster.work, attempt.number, attempt.steps)
        for touch in attempt.clock.touches:
            _cost(cluster, attempt, raw, touch, found[touch.fault])
    return dict(found)


def _cost(
    cluster: Cluster, attempt: Attempt, raw: RawSteps, touch: Touch, spell: Spell
) -> None:
    low, high = touch.low, touch.high
    clock, ranks = attempt.clock, cluster.scenario.ranks
    part, common = raw.part(low, high), clock.common[low:high]
    others = [
        one.within(low, high)
        for one in clock.touches
        if one.fault != touch.fault and one.low < high and one.high > low
    ]
    first = attempt.first_step + low

    def run(touches: Sequence[Touch]) -> Felt:
        return feel(cluster.work, part, common, touches, first)

    alone, none = run([touch.within(low, high)]), run([])
    spell.solo += int((alone.duration - none.duration).sum()) * _US * ranks
    without = run(others).duration
    spell.joint += int((clock.duration[low:high] - without).sum()) * _US * ranks
    began = attempt.begin_ns + int(clock.start[low]) * _US
    ended = attempt.begin_ns + int(clock.end[high - 1]) * _US
    last = attempt.first_step + high - 1
    spell.pieces.append((attempt.number, first, last, began, ended))
    if touch.columns:
        spell.ratios.append(_ratios(cluster, alone, none, touch))


def _ratios(cluster: Cluster, alone: Felt, none: Felt, touch: Touch) -> Floats:
    """Return the time without waits of a touched rank over what it were else. [1]"""
    column = touch.columns[0]

    def own(felt: Felt) -> Ints:
        shared = felt.data + felt.communication + felt.idle + felt.checkpoint
        more = felt.watched_data[:, column] + felt.watched_communication[:, column]
        own_work: Ints = shared + more + felt.watched[:, column]
        return own_work

    return own(alone) / own(none)


def slowdown(spell: Spell) -> float | None:
    """Return the median of what a touched rank takes over the usual. [1]"""
    if not spell.ratios:
        return None
    return float(np.median(np.concatenate(spell.ratios)))
