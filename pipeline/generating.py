"""Generate a synthetic cluster: its files, and the truth beside them."""

import errno
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import polars as pl

from ingest.errors import SettingError
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import MOST_DAYS, Scenario
from ingest.synthetic.cluster.truth import truth_of
from ingest.synthetic.cluster.volume import Volume, volume_of
from ingest.synthetic.cluster.write_raw import RawOptions, Written, write_raw
from ingest.synthetic.cluster.write_traces import TraceTemplate
from pipeline._making import in_gb, making, refuse_small_disk
from pipeline._pace import Pace

#: What is written: text as tools leave it, with steps as JSON lines or as CSV; or
#: Parquet.
Format = Literal["raw", "csv", "parquet"]

_KINDS: Final[dict[Format, Literal["jsonl", "csv", "parquet"]]] = {
    "raw": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
}

_HOUR_NS: Final = 3_600 * 10**9

#: Name of the truth about a cluster.
TRUTH: Final = "truth.json"

#: Time between two samples of power: what a sensor can tell apart, and a day. [s]
LEAST_INTERVAL_S: Final = 0.1
MOST_INTERVAL_S: Final = 86_400.0

_SMALLER: Final = "name another disk, fewer --hours, or --format lake"


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

    Both come there when all is written: what is stopped before leaves nothing.

    Raises:
        SettingError: If the folder of the run or a truth is there, the request cannot
            be met, or the disk has too little room.
        OSError: If files cannot be written or read.
    """
    refuse_there(folder / scenario.run_id)
    job = _job(scenario, folder, request)
    with making(folder, scenario.run_id) as hidden:
        return _write(job, hidden, say)


def refuse_there(target: Path) -> None:
    """Refuse a folder of a run that has files, and one beside which a truth is.

    Raises:
        SettingError: If it has.
    """
    truth = target.parent / TRUTH
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        state = "there already"
        if not truth.exists():
            state += ", but not made to its end"
        message = f"{target}: {state}; name another folder, or remove it"
        raise SettingError(message)
    if truth.exists():
        message = f"{truth}: the truth of another run; name another folder"
        raise SettingError(message)


def write(
    scenario: Scenario, folder: Path, request: Request, say: Callable[[str], None]
) -> Written:
    """Write a cluster's files, over those of their names.

    Raises:
        SettingError: If the request cannot be met, or the disk has too little room.
        OSError: If files cannot be written or read.
    """
    return _write(_job(scenario, folder, request), folder, say)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is written: of a cluster, from when to when [ns], how, and how much."""

    cluster: Cluster
    span_ns: tuple[int, int]
    options: RawOptions
    volume: Volume


def _job(scenario: Scenario, folder: Path, request: Request) -> _Job:
    """Return what a request means, if it can be met."""
    refuse_request(request)
    cluster = cluster_of(scenario)
    options = RawOptions(
        steps=_KINDS[request.form],
        power=request.interval_s > 0,
        power_interval_ns=max(round(request.interval_s * 1e9), 1),
        traces=min(request.traces, scenario.ranks),
        trace=request.trace,
        rows_from_ns=request.rows_from_ns,
    )
    span = span_of(cluster, request.hours)
    volume = volume_of(cluster, span, options)
    refuse_small_disk(folder, volume.bytes, _SMALLER)
    return _Job(cluster, span, options, volume)


def _write(job: _Job, folder: Path, say: Callable[[str], None]) -> Written:
    """Write the files, then the truth: whoever sees that sees a run that is whole.

    The truth is of the whole calendar, and says of which time there are files; of which
    part of that steps and power.
    """
    cluster, volume = job.cluster, job.volume
    say(
        f"{volume.steps:,} rows of steps and {volume.power:,} samples of power are to"
        f" be written, about {in_gb(volume.bytes)}"
    )
    pace = Pace(volume.made)
    target = folder / cluster.scenario.run_id

    def told(rows: int) -> None:
        line = pace.within(rows)
        if line is not None:
            say(line)

    try:
        written = write_raw(target, cluster, job.span_ns, job.options, told)
    except pl.exceptions.ComputeError as error:
        # what a disk says in the middle of a Parquet file
        _, _, reason = str(error).rpartition("IO error: ")
        raise OSError(errno.EIO, reason, str(target)) from error
    booked = written.booked if job.span_ns[1] == cluster.until_ns else None
    since = job.options.rows_from_ns
    files = {
        "from_ns": job.span_ns[0],
        "to_ns": job.span_ns[1],
        "rows_from_ns": job.span_ns[0] if since is None else since,
    }
    truth = json.dumps({"files": files, **truth_of(cluster, booked)}, indent=2)
    (folder / TRUTH).write_text(f"{truth}\n", encoding="utf-8")
    return written


def refuse_request(request: Request) -> None:
    """Refuse numbers and files that nothing can be made of.

    Raises:
        SettingError: If there is one.
    """
    interval, traces, trace = request.interval_s, request.traces, request.trace
    if interval and not LEAST_INTERVAL_S <= interval <= MOST_INTERVAL_S:
        message = (
            f"--interval {interval}: expected 0, or seconds of {LEAST_INTERVAL_S:g} to"
            f" {MOST_INTERVAL_S:g}"
        )
        raise SettingError(message)
    if traces < 0:
        message = f"--traces {traces}: expected ranks, 0 or more"
        raise SettingError(message)
    if trace is None:
        return
    if not traces:
        message = "--trace: there are no traces to make of it; add --traces"
        raise SettingError(message)
    try:
        TraceTemplate.load(trace, size=1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or "no trace with events"
        message = f"--trace {trace}: {reason}; name a trace of Kineto's"
        raise SettingError(message) from error


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
    wanted_ns = round(min(hours, MOST_DAYS * 24) * _HOUR_NS)
    return begun, min(begun + wanted_ns, cluster.until_ns)
