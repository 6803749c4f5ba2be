"""Documents of nvidia-smi -q -x, made and read."""

import io
from collections.abc import Iterable
from typing import Any

from ingest.sources import Batch, Reading, nvidia_smi_xml
from ingest.tables import PowerSamples
from tests.ingest.readings import held, reading, rows

PROLOG = '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device.dtd">\n'
STAMP = "Fri Aug  4 11:44:30 2023"


def gpu(inner: str, address: str = "00000000:01:00.0") -> str:
    return f'<gpu id="{address}">\n{inner}\n</gpu>\n'


def document(*gpus: str, stamp: str = STAMP, prolog: str = PROLOG) -> str:
    body = f"<timestamp>{stamp}</timestamp>\n" + "".join(gpus)
    return f"{prolog}<nvidia_smi_log>\n{body}</nvidia_smi_log>\n"


def read(text: str, told: Reading | None = None) -> list[Batch]:
    stream = io.BytesIO(text.encode())
    return held(nvidia_smi_xml.read(stream, told or reading()))


def samples(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)


def watts(batches: Iterable[Batch]) -> list[float]:
    return [row["power_average_w"] for row in samples(batches)]


def drawing(power: int, uuid: str = "GPU-1") -> str:
    reading_ = f"<power_readings><power_draw>{power} W</power_draw></power_readings>"
    return gpu(f"<uuid>{uuid}</uuid>{reading_}")
