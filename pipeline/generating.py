"""Generate a synthetic cluster: its files, and the truth beside them."""

import errno
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import polars as pl

from ingest.errors import SettingError
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import Scenario
from ingest.synthetic.cluster.truth import truth_of
from ingest.synthetic.cluster.volume import Volume, volume_of
from ingest.synthetic.cluster.write_raw import RawOptions, Written, write_raw
from pipeline._generating_requests import (
    Format,
    Request,
    refuse_request,
    short_of,
    span_of,
)
from pipeline._making import in_gb, making, refuse_small_disk
from pipeline._pace import Pace

__all__ = [
    "Format",
    "Request",
    "generate",
    "refuse_request",
    "refuse_there",
    "span_of",
    "write",
]

_KINDS: Final[dict[Format, Literal["jsonl", "csv", "parquet"]]] = {
    "raw": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
}

#: Name of the truth about a cluster.
TRUTH: Final = "truth.json"

_SMALLER: Final = "name another disk, fewer --hours, or --format lake"


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
    """What is written: of a cluster, from when to when [ns], how, and how much.

    Attributes:
        hours: Hours that were asked for.
    """

    cluster: Cluster
    span_ns: tuple[int, int]
    options: RawOptions
    volume: Volume
    hours: float | None


def _job(scenario: Scenario, folder: Path, request: Request) -> _Job:
    """Return what a request means, if it can be met."""
    refuse_request(request, scenario)
    span = span_of(scenario, request.hours)
    cluster = cluster_of(scenario, span[1])
    if not cluster.attempts:
        message = (
            f"--hours {request.hours:g}: the run does not start by then; give more"
        )
        raise SettingError(message)
    options = RawOptions(
        steps=_KINDS[request.form],
        power=request.interval_s > 0,
        power_interval_ns=max(round(request.interval_s * 1e9), 1),
        traces=request.traces,
        trace=request.trace,
        rows_from_ns=request.rows_from_ns,
    )
    volume = volume_of(cluster, span, options)
    refuse_small_disk(folder, volume.bytes, _SMALLER)
    return _Job(cluster, span, options, volume, request.hours)


def _write(job: _Job, folder: Path, say: Callable[[str], None]) -> Written:
    """Write the files, then the truth: whoever sees that sees a run that is whole.

    The truth is of the time of the files, and says of which part of that steps and
    power are.
    """
    cluster, volume = job.cluster, job.volume
    for line in short_of(cluster, job.hours):
        say(line)
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
    since = job.options.rows_from_ns
    files = {
        "from_ns": job.span_ns[0],
        "to_ns": job.span_ns[1],
        "rows_from_ns": job.span_ns[0] if since is None else since,
    }
    truth = json.dumps({"files": files, **truth_of(cluster, written.booked)}, indent=2)
    (folder / TRUTH).write_text(f"{truth}\n", encoding="utf-8")
    return written
