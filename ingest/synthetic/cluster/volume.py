"""How much is written of a cluster: rows, and about how many bytes."""

from dataclasses import dataclass
from typing import Final

from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.steps import steps_within
from ingest.synthetic.cluster.write_logs import HARMLESS_S
from ingest.synthetic.cluster.write_raw import RawOptions
from ingest.times import DAY_NS, SECOND_NS

#: What a step of a rank takes by kind of log, a step of all ranks in Parquet, and a
#: sample of power as text or Parquet: measured, and a tenth more. [B]
_ROW_BYTES: Final = {"jsonl": 290, "csv": 110, "parquet": 10}
_STEP_BYTES: Final = 110
_SCRAPE_BYTES: Final = 1_950
_SAMPLE_BYTES: Final = 12

#: What is set aside of a sample until its day is over. [B]
_ASIDE_BYTES: Final = 10

#: A line of a log, a GPU of a host map, and a packed byte of a trace. [B]
_LINE_BYTES: Final = 135
_GPU_BYTES: Final = 125
_PACKED: Final = 1 / 8


@dataclass(frozen=True, slots=True)
class Volume:
    """What is to be written.

    Attributes:
        steps: Rows of steps. [1]
        made: Steps of ranks that are made for them, and to know what happened before.
            [1]
        power: Samples of power. [1]
        bytes: Of all files together, about. [B]
    """

    steps: int
    made: int
    power: int
    bytes: int


def volume_of(
    cluster: Cluster, span_ns: tuple[int, int], options: RawOptions
) -> Volume:
    """Return how much is written of a time of a cluster.

    Args:
        cluster: The cluster.
        span_ns: From when to when; the end is not included. [ns]
        options: What is written.
    """
    begin, end = span_ns
    since = begin if options.rows_from_ns is None else options.rows_from_ns
    steps, made = (_steps(cluster, (first, end)) for first in (since, begin))
    ranks, gpus = cluster.scenario.ranks, cluster.fleet.gpus.height
    power = (end - since) // options.power_interval_ns * gpus if options.power else 0
    lines = len(cluster.fleet.hosts) * (end - begin) / SECOND_NS / HARMLESS_S
    is_text = options.steps != "parquet"
    days = max((end - since) / DAY_NS, 1)
    found = (
        steps * _ROW_BYTES[options.steps]
        + (0 if is_text else steps / ranks * _STEP_BYTES)
        + power * (_SCRAPE_BYTES if is_text else _SAMPLE_BYTES)
        + power / days * _ASIDE_BYTES
        + lines * _LINE_BYTES
        + gpus * _GPU_BYTES
        + options.traces * options.trace_bytes * _PACKED
    )
    return Volume(steps, made, power, round(found))


def _steps(cluster: Cluster, span_ns: tuple[int, int]) -> int:
    """Return the steps of ranks that begin in a time. [1]"""
    inside = [steps_within(one, *span_ns) for one in cluster.attempts]
    return sum(high - low for low, high in inside) * cluster.scenario.ranks
