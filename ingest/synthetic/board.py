"""Power, clock and heat of a GPU through a simulated run."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import SECOND, Scenario

#: Power of a GPU by what it does. [W]
COMPUTE_W: Final = 655.0
CAPPED_W: Final = 497.0
TRANSFER_W: Final = 390.0
SPIN_W: Final = 270.0
LOADED_W: Final = 128.0
IDLE_W: Final = 71.0

#: Clock of a GPU without work. [MHz]
IDLE_MHZ: Final = 345

#: Reasons for a lowered clock, as NVML numbers them.
GPU_IDLE: Final = 0x1
SW_POWER_CAP: Final = 0x4

#: Share of its work during which the driver holds the capped GPU's clock down. [1]
CAPPED_RATIO: Final = 0.93


class Stretch(NamedTuple):
    """Time of constant power, until the next one starts.

    Attributes:
        start: When it starts. [ns]
        watts: Power. [W]
        works: Whether the GPU computes.
        is_busy: Whether a kernel runs; one that waits for a lost rank runs, too.
    """

    start: int
    watts: float
    works: bool
    is_busy: bool


class Mean(NamedTuple):
    """Mean power, and the shares of the time with work and with a kernel."""

    watts: float
    works: float
    busy: float


@dataclass(frozen=True, slots=True)
class Sample:
    """What the driver says of a GPU at one moment."""

    time: int
    average_w: float
    instant_w: float
    temperature_c: int
    memory_temperature_c: int
    clock_mhz: int
    reasons: int
    capped_us: int
    utilization: int


class Board:
    """Power of one GPU over the run, as stretches of constant power."""

    def __init__(
        self, scenario: Scenario, gpu: Gpu, attempts: Sequence[Attempt]
    ) -> None:
        """Lay out the stretches."""
        self.gpu = gpu
        self.is_capped = gpu.rank == scenario.slow_rank
        self.limit_w = (
            scenario.capped_limit_w if self.is_capped else scenario.power_limit_w
        )
        self._scenario = scenario
        self._draw = scenario.draws("power", gpu.rank)
        stretches = [Stretch(0, IDLE_W, works=False, is_busy=False)]
        for attempt in attempts:
            stretches += _stretches(attempt, gpu.rank, self.is_capped)
        self._starts = [stretch.start for stretch in stretches]
        self._stretches = stretches
        self._capped_before_us = self._draw.randrange(2_000, 9_000)

    def sample(self, at: int) -> Sample:
        """Return a sample at a time. [ns]"""
        mean, now = self._mean(at - SECOND, at), self._at(at)
        draw, scenario = self._draw, self._scenario
        clock, reasons = scenario.sm_clock_mhz, 0
        if now.watts == IDLE_W:
            clock, reasons = IDLE_MHZ, GPU_IDLE
        if self.is_capped and now.works:
            low = scenario.sm_clock_mhz / scenario.slowdown_ratio
            clock = round(low / 15) * 15 + draw.choice((-15, 0, 0, 15))
            reasons = SW_POWER_CAP
        heat = 26 + mean.watts * 0.055
        return Sample(
            time=at,
            average_w=mean.watts + draw.gauss(0, 1.2),
            instant_w=min(now.watts + draw.gauss(0, 7), self.limit_w * 1.01),
            temperature_c=round(heat + draw.gauss(0, 0.4)),
            memory_temperature_c=round(heat + 9 + draw.gauss(0, 0.4)),
            clock_mhz=clock,
            reasons=reasons,
            capped_us=self._capped_us(at),
            utilization=round(100 * mean.busy),
        )

    def _capped_us(self, at: int) -> int:
        """Return the counter of time slowed for power. [us]"""
        first = self._starts[1]
        if not self.is_capped or at <= first:
            return self._capped_before_us
        worked_us = self._mean(first, at).works * (at - first) / 1_000
        return self._capped_before_us + round(worked_us * CAPPED_RATIO)

    def _at(self, time: int) -> Stretch:
        return self._stretches[bisect_right(self._starts, time) - 1]

    def _mean(self, start: int, end: int) -> Mean:
        energy, works, busy, at = 0.0, 0, 0, start
        while at < end:
            position = bisect_right(self._starts, at)
            stop = self._starts[position] if position < len(self._starts) else end
            length = min(stop, end) - at
            stretch = self._stretches[position - 1]
            energy += stretch.watts * length
            works += stretch.works * length
            busy += stretch.is_busy * length
            at += length
        whole = end - start
        return Mean(energy / whole, works / whole, busy / whole)


def _stretches(attempt: Attempt, rank: int, is_capped: bool) -> Iterator[Stretch]:
    """Yield what a GPU does through one attempt."""
    peak = CAPPED_W if is_capped else COMPUTE_W

    def loaded(start: int) -> Stretch:
        return Stretch(start, LOADED_W, works=False, is_busy=False)

    yield loaded(attempt.start)
    for steps in attempt.steps.values():
        step = steps[rank]
        active = step.compute + step.communication + step.wait
        energy = (
            peak * step.compute + TRANSFER_W * step.communication + SPIN_W * step.wait
        )
        yield loaded(step.start)
        begun = step.start + step.data
        yield Stretch(begun, energy / active, works=True, is_busy=True)
        if step.checkpoint:
            yield loaded(step.now - step.checkpoint)
    hangs = attempt.failed is not None
    end = steps[rank].now
    yield Stretch(end, SPIN_W, works=False, is_busy=True) if hangs else loaded(end)
    yield Stretch(attempt.end, IDLE_W, works=False, is_busy=False)
