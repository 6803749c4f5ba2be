"""Fill a lake with a generated cluster: old days as rollups, the last ones as rows.

No row of the old days is ever written. Each day is made a window at a time and
condensed as a day of a lake is; where a rollup reads steps again they are made again.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import polars as pl

from analysis._rollup import Bounds
from ingest.discovery import Options, discover
from ingest.errors import SettingError
from ingest.lake import open_writer
from ingest.staging import Place
from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import Scenario
from ingest.synthetic.cluster.steps import frame_of, step_windows, steps_within
from ingest.tables import StepTimings
from ingest.times import DAY_NS, SECOND_NS
from pipeline import analyzing, generating, steps
from pipeline._given import GivenDay
from pipeline._owners import ByDay
from pipeline._windows import WINDOW_ROWS
from pipeline.analyzing import Analyzed
from pipeline.generating import Request
from pipeline.logs import Say
from pipeline.publishing import publish
from pipeline.settings import Settings
from pipeline.summaries import Ingested

#: Raised when a scenario makes other steps than before.
MADE: Final = 2

#: Says in a run's folder whether its files are all there.
_MARK: Final = ".generated.json"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a cluster goes.

    Attributes:
        settings: The lake, and how it is analysed.
        keep: Days before the last whose rows are written and ingested, too. [d]
    """

    settings: Settings
    keep: int


@dataclass(frozen=True, slots=True)
class Filled:
    """What came into the lake.

    Attributes:
        days: Days that are there as rollups only. [1]
        rows: Steps of ranks that they had. [1]
        ingested: Files of the run.
        analyzed: Questions that were answered.
    """

    days: int
    rows: int
    ingested: Ingested
    analyzed: Analyzed


def fill(
    scenario: Scenario,
    folder: Path,
    request: Request,
    target: Target,
    say: Say,
) -> Filled:
    """Generate a cluster into a lake, and analyse it.

    What is there already is left: to call it again after a stop goes on with the day
    that was not finished.

    Args:
        scenario: The cluster.
        folder: Where the run's files go: all but steps and power of old days.
        request: What is generated; steps of the last days as Parquet.
        target: The lake, and what it keeps of rows.
        say: Told of each day.

    Raises:
        SettingError: If other files are in the run's folder, or the time is none.
        TelemetryError: If the lake cannot be used.
        OSError: If files cannot be written or read.
    """
    cluster, settings = cluster_of(scenario), target.settings
    begun, until = generating.span_of(cluster, request.hours)
    since = max(begun, ((until - 1) // DAY_NS - target.keep) * DAY_NS)
    whole = replace(request, form="parquet", rows_from_ns=since)
    _write(scenario, folder, whole, say)
    given = tuple(given_days(cluster, begun, since))
    with open_writer(settings.lake, grace_s=settings.grace_s) as writer:
        found = discover([folder / scenario.run_id], Options(), settings.lake)
        stage_all = steps.stage_in_threads(settings.jobs)
        ingested = steps.ingest(writer, found, stage_all, say)
        run = frozenset({scenario.run_id} if given else ())
        by_day = ByDay(
            settings.by_day_rows, {StepTimings: run}, say, given, settings.jobs
        )
        done = analyzing.analyze(writer, settings.thresholds, by_day=by_day)
        publish(settings.lake)
    return Filled(len(given), sum(day.rows for day in given), ingested, done)


def _write(scenario: Scenario, folder: Path, request: Request, say: Say) -> None:
    """Write the run's files, unless they are all there."""
    target = folder / scenario.run_id
    mark = target / _MARK
    asked = {"key": _key(scenario), "request": msgspec.to_builtins(request)}
    known = json.loads(mark.read_text("utf-8")) if mark.exists() else None
    if known is None:
        generating.refuse_there(target)
        target.mkdir(parents=True, exist_ok=True)
    elif known["asked"] != asked:
        message = f"{target}: of another scenario or time; name another folder"
        raise SettingError(message)
    elif known["whole"]:
        return
    mark.write_text(json.dumps({"asked": asked, "whole": False}), "utf-8")
    generating.write(scenario, folder, request, say)
    mark.write_text(json.dumps({"asked": asked, "whole": True}), "utf-8")


def _key(scenario: Scenario) -> str:
    """Return what stands for all that a scenario makes."""
    said = json.dumps([MADE, msgspec.to_builtins(scenario)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def given_days(cluster: Cluster, from_ns: int, to_ns: int) -> Iterator[GivenDay]:
    """Yield the UTC days of a cluster's steps; days without steps are left out.

    Args:
        cluster: The cluster.
        from_ns: Start of the time. [ns]
        to_ns: End of the time, not included: a midnight. [ns]
    """
    key, run = _key(cluster.scenario), cluster.scenario.run_id
    for number in range(from_ns // DAY_NS, -(-to_ns // DAY_NS)):
        bounds = (max(number * DAY_NS, from_ns), min((number + 1) * DAY_NS, to_ns))
        inside = (steps_within(one, *bounds) for one in cluster.attempts)
        count = sum(high - low for low, high in inside)
        if count:
            day = (
                f"{datetime.fromtimestamp(number * DAY_NS // SECOND_NS, UTC):%Y-%m-%d}"
            )
            read = partial(_read, cluster, bounds)
            rows = count * cluster.scenario.ranks
            said = f"{key} {bounds[0]} {bounds[1]}"
            yield GivenDay(StepTimings, Place(run, day), said, rows, read)


def _read(
    cluster: Cluster,
    times_ns: tuple[int, int],
    columns: Sequence[str],
    bounds: Bounds | None,
) -> Iterator[pl.DataFrame]:
    """Make the steps of a time, those within bounds or all, window by window."""
    size = max(WINDOW_ROWS // cluster.scenario.ranks, 1)
    for window in step_windows(cluster, *times_ns, size, bounds):
        yield frame_of(window).select(columns)
