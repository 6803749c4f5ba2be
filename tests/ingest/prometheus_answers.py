"""Answers of the HTTP API of Prometheus, as tests write and read them."""

import io
import json
from collections.abc import Iterable
from typing import Any

from ingest.sources import Batch, prometheus_api
from ingest.tables import PowerSamples
from tests.ingest.readings import held, reading, rows

#: A time that no float64 of seconds holds to the nanosecond.
AT = "1773114089.943"
AT_NS = 1_773_114_089_943_000_000

POWER = "DCGM_FI_DEV_POWER_USAGE"


def labels(metric: str = POWER, gpu: str = "GPU-1", **more: str) -> dict[str, str]:
    return {"__name__": metric, "UUID": gpu, "Hostname": "node-1"} | more


def vector(*series: tuple[dict[str, str], str], at: str = AT) -> str:
    found = ",".join(
        f'{{"metric":{json.dumps(named)},"value":[{at},{json.dumps(value)}]}}'
        for named, value in series
    )
    return f'{{"status":"success","data":{{"resultType":"vector","result":[{found}]}}}}'


def matrix(*series: tuple[dict[str, str], list[tuple[str, str]]]) -> str:
    found = ",".join(
        f'{{"metric":{json.dumps(named)},"values":'
        f"[{','.join(f'[{at},{json.dumps(v)}]' for at, v in values)}]}}"
        for named, values in series
    )
    return f'{{"status":"success","data":{{"resultType":"matrix","result":[{found}]}}}}'


def of(text: str | bytes) -> list[Batch]:
    data = text.encode() if isinstance(text, str) else text
    return held(prometheus_api.read(io.BytesIO(data), reading()))


def power(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, PowerSamples)
