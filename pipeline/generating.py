"""Generate a synthetic cluster: its files, and the truth beside them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ingest.errors import SettingError
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import Scenario
from ingest.synthetic.cluster.truth import truth_of
from ingest.synthetic.cluster.write_raw import RawOptions, Written, write_raw

#: What is written: text as tools leave it, with steps as JSON lines or as CSV; or
#: Parquet.
Format = Literal["raw", "csv", "parquet"]

_KINDS: Final[dict[Format, Literal["jsonl", "csv", "parquet"]]] = {
    "raw": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
}

_HOUR_NS: Final = 3_600 * 10**9


@dataclass(frozen=True, slots=True)
class Request:
    """What is generated.

    Attributes:
        form: What is written.
        hours: Hours from the calendar's beginning; all of it without. [h]
        interval_s: Time between two samples of power; 0: none is written. [s]
        traces: Ranks with a trace. [1]
        trace: A real trace that theirs are made of.
        rows_from_ns: From when on there are steps and power; None: from the start. [ns]
    """

    form: Format = "raw"
    hours: float | None = None
    interval_s: float = 15.0
    traces: int = 0
    trace: Path | None = None
    rows_from_ns: int | None = None


def generate(
    scenario: Scenario, folder: Path, request: Request, say: Callable[[str], None]
) -> Written:
    """Write a cluster's files to a folder of its run, and truth.json beside it.

    Raises:
        SettingError: If the folder of the run is there, or the time is none.
        OSError: If files cannot be written or read.
    """
    refuse_there(folder / scenario.run_id)
    return write(scenario, folder, request, say)


def refuse_there(target: Path) -> None:
    """Refuse a folder of a run that has files.

    Raises:
        SettingError: If it has.
    """
    if target.exists() and any(target.iterdir()):
        is_whole = (target.parent / "truth.json").exists()
        state = (
            "there already" if is_whole else "there already, but not made to its end"
        )
        message = f"{target}: {state}; name another folder, or remove it"
        raise SettingError(message)


def write(
    scenario: Scenario, folder: Path, request: Request, say: Callable[[str], None]
) -> Written:
    """Write a cluster's files, over those of their names.

    Raises:
        SettingError: If the time is none.
        OSError: If files cannot be written or read.
    """
    cluster = cluster_of(scenario)
    span = span_of(cluster, request.hours)
    options = RawOptions(
        steps=_KINDS[request.form],
        power=request.interval_s > 0,
        power_interval_ns=interval_ns(request),
        traces=request.traces,
        trace=request.trace,
        rows_from_ns=request.rows_from_ns,
    )
    written = write_raw(folder / scenario.run_id, cluster, span, options, say)
    booked = written.booked if span[1] == cluster.until_ns else None
    truth = json.dumps(truth_of(cluster, booked), indent=2)
    (folder / "truth.json").write_text(f"{truth}\n", encoding="utf-8")
    return written


def interval_ns(request: Request) -> int:
    """Return the time between two samples of power. [ns]"""
    return max(round(request.interval_s * 1e9), 1)


def span_of(cluster: Cluster, hours: float | None) -> tuple[int, int]:
    """Return from when to when a cluster is generated. [ns]

    Raises:
        SettingError: If the time is none.
    """
    begun = cluster.scenario.begun_ns
    if hours is None:
        return begun, cluster.until_ns
    if not 0 < hours < float("inf"):
        message = f"--hours {hours}: expected hours, above 0"
        raise SettingError(message)
    return begun, min(begun + round(hours * _HOUR_NS), cluster.until_ns)
