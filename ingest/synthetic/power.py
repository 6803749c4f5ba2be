"""Power telemetry: nvidia-smi CSV once a second, and one dcgm-exporter scrape."""

from collections.abc import Iterator, Sequence
from typing import Final

from ingest.synthetic.board import Board, Sample
from ingest.synthetic.kernel_log import BACK_BEFORE_NS
from ingest.synthetic.raw_text import local_time
from ingest.synthetic.run import Attempt
from ingest.synthetic.scenario import MS, SECOND, Scenario

#: Time before and after the run in which power is recorded, too. [ns]
MARGIN_NS: Final = 5 * SECOND

_HEADER: Final = (
    "timestamp, index, uuid, pci.bus_id, power.draw.average [W], "
    "power.draw.instant [W], enforced.power.limit [W], temperature.gpu, "
    "temperature.memory, clocks.current.sm [MHz], clocks_event_reasons.active, "
    "clocks_event_reasons_counters.sw_power_cap [us], "
    "clocks_event_reasons_counters.sw_thermal_slowdown [us], utilization.gpu [%]"
)


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
