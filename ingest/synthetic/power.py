"""Power telemetry: nvidia-smi CSV once a second, and one dcgm-exporter scrape."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ingest.synthetic.fleet import Gpu
from ingest.synthetic.kernel_log import BACK_BEFORE_NS
from ingest.synthetic.raw_text import local_time
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import MS, SECOND, Scenario

#: Power of a GPU by what it does. [W]
COMPUTE_W: Final = 655.0
CAPPED_W: Final = 497.0
TRANSFER_W: Final = 390.0
SPIN_W: Final = 270.0
LOADED_W: Final = 128.0
IDLE_W: Final = 71.0

#: Reasons for a lowered clock, as NVML numbers them.
GPU_IDLE: Final = 0x1
SW_POWER_CAP: Final = 0x4

#: Time before and after the run in which power is recorded, too. [ns]
MARGIN_NS: Final = 5 * SECOND

_HEADER: Final = (
    "timestamp, index, uuid, pci.bus_id, power.draw.average [W], "
    "power.draw.instant [W], enforced.power.limit [W], temperature.gpu, "
    "temperature.memory, clocks.current.sm [MHz], clocks_event_reasons.active, "
    "clocks_event_reasons_counters.sw_power_cap [us], "
    "clocks_event_reasons_counters.sw_thermal_slowdown [us], utilization.gpu [%]"
)


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
        stretches = [(0, IDLE_W, False)]
        for attempt in attempts:
            stretches += _stretches(attempt, gpu.rank, self.is_capped)
        self._starts = [start for start, _, _ in stretches]
        self._stretches = stretches
        self._capped_us = self._draw.randrange(2_000, 9_000)

    def sample(self, at: int) -> Sample:
        """Return the next sample; times must rise. [ns]"""
        average, busy = self._mean(at - SECOND, at)
        watts, works = self._at(at)
        draw, scenario = self._draw, self._scenario
        clock, reasons = scenario.sm_clock_mhz, 0
        if watts == IDLE_W:
            clock, reasons = 345, GPU_IDLE
        if self.is_capped:
            self._capped_us += round(busy * 0.93 * 1_000_000)
            if works:
                low = scenario.sm_clock_mhz / scenario.slowdown_ratio
                clock, reasons = round(low / 15) * 15, SW_POWER_CAP
                clock += draw.choice((-15, 0, 0, 15))
        heat = 26 + average * 0.055
        return Sample(
            time=at,
            average_w=average + draw.gauss(0, 1.2),
            instant_w=min(watts + draw.gauss(0, 7), self.limit_w * 1.01),
            temperature_c=round(heat + draw.gauss(0, 0.4)),
            memory_temperature_c=round(heat + 9 + draw.gauss(0, 0.4)),
            clock_mhz=clock,
            reasons=reasons,
            capped_us=self._capped_us,
            utilization=round(100 * busy),
        )

    def _at(self, time: int) -> tuple[float, bool]:
        _, watts, works = self._stretches[bisect_right(self._starts, time) - 1]
        return watts, works

    def _mean(self, start: int, end: int) -> tuple[float, float]:
        """Return mean power and the share of time with work. [W], [1]"""
        energy, busy, at = 0.0, 0, start
        while at < end:
            position = bisect_right(self._starts, at)
            stop = self._starts[position] if position < len(self._starts) else end
            stop = min(stop, end)
            _, watts, works = self._stretches[position - 1]
            energy += watts * (stop - at)
            busy += works * (stop - at)
            at = stop
        return energy / (end - start), busy / (end - start)


def _stretches(
    attempt: Attempt, rank: int, is_capped: bool
) -> Iterator[tuple[int, float, bool]]:
    """Yield start, power and whether the GPU works, through one attempt."""
    peak = CAPPED_W if is_capped else COMPUTE_W
    yield attempt.start, LOADED_W, False
    for steps in attempt.steps.values():
        step = steps[rank]
        active = step.compute + step.communication + step.wait
        energy = (
            peak * step.compute + TRANSFER_W * step.communication + SPIN_W * step.wait
        )
        yield step.start, LOADED_W, False
        yield step.start + step.data, energy / active, True
        if step.checkpoint:
            yield step.now - step.checkpoint, LOADED_W, False
    end = steps[rank].now
    yield end, (SPIN_W if attempt.failed is not None else LOADED_W), False
    yield attempt.end, IDLE_W, False


def smi_lines(
    scenario: Scenario, attempts: Sequence[Attempt], boards: Sequence[Board]
) -> Iterator[str]:
    """Yield the CSV of one node; a lost node writes nothing until it is back."""
    yield _HEADER
    blind = _blind(scenario, attempts, boards[0].gpu.host)
    offset = scenario.offset_ns(boards[0].gpu.rank)
    at = attempts[0].start - MARGIN_NS + 137 * MS
    while at < attempts[-1].end + MARGIN_NS:
        for board in boards:
            sample = board.sample(at + board.gpu.local_rank * 3 * MS)
            if not blind[0] <= at < blind[1]:
                yield _smi_row(scenario, board, sample, offset)
        at += SECOND


def _blind(
    scenario: Scenario, attempts: Sequence[Attempt], host: str
) -> tuple[int, int]:
    """Return from when to when a node writes nothing. [ns]"""
    lost = f"node-{scenario.failed_rank // scenario.gpus_per_node + 1:02}"
    if len(attempts) == 1 or host != lost:
        return (0, 0)
    return (attempts[0].failed or 0, attempts[1].start - BACK_BEFORE_NS + 25 * SECOND)


def _smi_row(scenario: Scenario, board: Board, sample: Sample, offset: int) -> str:
    stamp = local_time(sample.time + offset, scenario.zone)
    millis = stamp.microsecond // 1_000
    gpu = board.gpu
    cells = (
        f"{stamp:%Y/%m/%d %H:%M:%S}.{millis:03}",
        str(gpu.local_rank),
        gpu.uuid,
        f"0000{gpu.pci_address.upper()}.0",
        f"{sample.average_w:.2f} W",
        f"{sample.instant_w:.2f} W",
        f"{board.limit_w:.2f} W",
        str(sample.temperature_c),
        str(sample.memory_temperature_c),
        f"{sample.clock_mhz} MHz",
        f"0x{sample.reasons:016X}",
        f"{sample.capped_us} us",
        "0 us",
        f"{sample.utilization} %",
    )
    return ", ".join(cells)
