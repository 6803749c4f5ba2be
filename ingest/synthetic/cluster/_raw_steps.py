"""What is drawn for the steps of an attempt, before anything happens to them."""

from dataclasses import dataclass

import numpy as np

from ingest.synthetic.cluster._draws import draws
from ingest.synthetic.cluster._pauses import Pauses, pauses_of
from ingest.synthetic.cluster._work import SECOND_US, Floats, Work, moving

#: Spread of the wait for input (uniform), and of a transfer and a checkpoint. [1]
_DATA_SPREAD = 0.2
_TRANSFER_SPREAD = 0.01
_SAVE_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class RawSteps:
    """Draws for the first steps of an attempt. More steps change no earlier one.

    Attributes:
        common: What all work is multiplied by, but for the time of day. [1]
        lengths: Work of each replica over the usual, by its documents: steps x
            replicas; of no columns where documents are alike. [1]
        healthy: Longest work of all ranks, were nothing to happen to them. [us]
        watched: Work of the watched: steps x watched. [us]
        pauses: Pauses of single ranks.
        data: Wait for the input. [us]
        communication: Time of communication. [us]
        idle: Time without a kernel. [us]
        checkpoint: Time of a checkpoint, were there one. [us]
    """

    common: Floats
    lengths: Floats
    healthy: Floats
    watched: Floats
    pauses: Pauses
    data: Floats
    communication: Floats
    idle: Floats
    checkpoint: Floats

    def part(self, low: int, high: int) -> "RawSteps":
        """Return the draws of a range of steps."""
        rows = slice(low, high)
        return RawSteps(
            self.common[rows],
            self.lengths[rows],
            self.healthy[rows],
            self.watched[rows],
            self.pauses.part(low, high),
            self.data[rows],
            self.communication[rows],
            self.idle[rows],
            self.checkpoint[rows],
        )


def raw_steps(work: Work, attempt: int, steps: int) -> RawSteps:
    """Draw the first steps of an attempt."""
    scenario = work.scenario
    noise, schedule = scenario.noise, scenario.schedule
    shared = draws(scenario.seed, "steps", attempt).standard_normal((steps, 3))
    data = draws(scenario.seed, "data", attempt).uniform(-1, 1, steps)
    usual = schedule.step_s * SECOND_US
    lengths = replica_lengths(work, attempt, steps)
    return RawSteps(
        common=np.maximum(1 + noise.common_cv * shared[:, 0], 0.5),
        lengths=lengths,
        healthy=_healthy(work, attempt, steps, lengths),
        watched=_watched(work, attempt, steps, lengths),
        pauses=pauses_of(work, attempt, steps),
        data=schedule.data_s * SECOND_US * (1 + _DATA_SPREAD * data),
        communication=usual
        * schedule.communication_share
        * np.maximum(1 + _TRANSFER_SPREAD * shared[:, 1], 0.5),
        idle=_idle(work, steps),
        checkpoint=schedule.checkpoint_s
        * SECOND_US
        * np.maximum(1 + _SAVE_SPREAD * shared[:, 2], 0.5),
    )


def replica_lengths(work: Work, attempt: int, steps: int) -> Floats:
    """Draw what the documents of each replica are long, over the usual."""
    scenario = work.scenario
    spread, replicas = scenario.noise.sequence_sd, scenario.layout.dp
    if not spread:
        return np.ones((steps, 0))
    drawn = draws(scenario.seed, "lengths", attempt).standard_normal((steps, replicas))
    return np.exp(spread * drawn)


def _healthy(work: Work, attempt: int, steps: int, lengths: Floats) -> Floats:
    """Draw the longest work of all ranks, watched or not."""
    draw = draws(work.scenario.seed, "longest", attempt)
    if not lengths.shape[1]:
        return work.longest.at(draw.standard_exponential(steps))
    each = work.longest.at(draw.standard_exponential(lengths.shape))
    longest: Floats = (each * lengths).max(1)
    return longest


def _watched(work: Work, attempt: int, steps: int, lengths: Floats) -> Floats:
    """Draw the work of the watched, a column for each, whoever else is watched."""
    scenario, ranks = work.scenario, list(work.watched)
    fresh = np.empty((steps + 1, len(ranks)))
    for column, rank in enumerate(ranks):
        draw = draws(scenario.seed, "watched", attempt, rank)
        fresh[:, column] = draw.standard_normal(steps + 1)
    spread = moving(fresh, scenario.noise.autocorrelation) * work.spread
    base = work.base_us[ranks] * (1 + spread)
    return base * lengths[:, work.replica[ranks]] if lengths.shape[1] else base


def _idle(work: Work, steps: int) -> Floats:
    """Return the time without a kernel: more in the first step, and to collect."""
    scenario = work.scenario
    noise, schedule = scenario.noise, scenario.schedule
    idle = np.full(steps, schedule.step_s * schedule.idle_share * SECOND_US)
    idle[:1] += noise.first_step_s * SECOND_US
    if noise.gc_synchronised and noise.gc_every:
        idle[noise.gc_every - 1 :: noise.gc_every] += noise.gc_s * SECOND_US
    return idle
