"""One scrape of dcgm-exporter, as Prometheus hands it on: with time stamps."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ingest.synthetic.board import Board, Sample
from ingest.synthetic.scenario import MS

#: Metric, type, help and value.
_METRICS: Final[tuple[tuple[str, str, str, Callable[[Sample], str]], ...]] = (
    (
        "DCGM_FI_DEV_SM_CLOCK",
        "gauge",
        "SM clock frequency (in MHz).",
        lambda sample: str(sample.clock_mhz),
    ),
    (
        "DCGM_FI_DEV_GPU_TEMP",
        "gauge",
        "GPU temperature (in C).",
        lambda sample: str(sample.temperature_c),
    ),
    (
        "DCGM_FI_DEV_POWER_USAGE",
        "gauge",
        "Power draw (in W).",
        lambda sample: f"{sample.average_w:.6f}",
    ),
    (
        "DCGM_FI_DEV_GPU_UTIL",
        "gauge",
        "GPU utilization (in %).",
        lambda sample: str(sample.utilization),
    ),
    (
        "DCGM_FI_DEV_POWER_VIOLATION",
        "counter",
        "Throttling duration due to power constraints (in ns).",
        lambda sample: str(sample.capped_us * 1_000),
    ),
)


def scrape_lines(boards: Sequence[Board], at: int) -> Iterator[str]:
    """Yield the lines of a scrape of one node at one time. [ns]"""
    samples = [board.sample(at) for board in boards]
    for name, kind, text, value in _METRICS:
        yield f"# HELP {name} {text}"
        yield f"# TYPE {name} {kind}"
        for board, sample in zip(boards, samples, strict=True):
            yield f"{name}{{{_labels(board)}}} {value(sample)} {at // MS}"


def _labels(board: Board) -> str:
    gpu = board.gpu
    labels = {
        "gpu": str(gpu.local_rank),
        "UUID": gpu.uuid,
        "pci_bus_id": f"0000{gpu.pci_address.upper()}.0",
        "device": f"nvidia{gpu.local_rank}",
        "modelName": "NVIDIA H100 80GB HBM3",
        "Hostname": gpu.host,
        "DCGM_FI_DRIVER_VERSION": "570.148.08",
    }
    return ",".join(f'{name}="{value}"' for name, value in labels.items())
