"""Fill a lake with a generated cluster: old days as rollups, the last ones as rows.

No row of the old days is ever written. Each day is made a window at a time and
condensed as a day of a lake is; where a rollup reads steps again they are made again.
Samples of power are kept while their day is condensed.
"""

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from ingest.discovery import Options, discover
from ingest.errors import SettingError
from ingest.lake import open_writer
from ingest.synthetic.cluster._days import days_of
from ingest.synthetic.cluster._power_meters import Counters
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.power_days import PowerDay
from ingest.synthetic.cluster.scenario import Scenario
from ingest.tables import PowerSamples, StepTimings, Table
from ingest.times import DAY_NS, SECOND_NS
from pipeline import _unfinished, analyzing, generating, steps
from pipeline._given_power import given_power
from pipeline._given_steps import given_steps
from pipeline._owners import ByDay
from pipeline.analyzing import Analyzed
from pipeline.generating import Request
from pipeline.logs import Say
from pipeline.publishing import publish
from pipeline.settings import Settings
from pipeline.summaries import Ingested

#: Raised when a scenario makes other steps or samples than before.
MADE: Final = 3

#: Says in a run's folder whether its files are all there.
_MARK: Final = ".generated.json"

#: What counters of energy show before each day.
_COUNTERS: Final = ".generated-counters.npy"

#: Samples of power of the day that is condensed.
_SPOOL: Final = ".power"


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
    settings = target.settings
    begun, until = generating.span_of(scenario, request.hours)
    cluster = cluster_of(scenario, until)
    since = max(begun, ((until - 1) // DAY_NS - target.keep) * DAY_NS)
    whole = replace(request, form="parquet", rows_from_ns=since)
    counters = _write(scenario, folder, whole, say)
    given = [*given_steps(cluster, _key(scenario), begun, since)]
    spool = folder / scenario.run_id / _SPOOL
    if request.interval_s > 0:
        interval_ns = max(round(request.interval_s * SECOND_NS), 1)
        power = [
            PowerDay(cluster, span, interval_ns, shown)
            for span, shown in zip(days_of(begun, since), counters, strict=False)
        ]
        given += given_power(power, _key(scenario), spool)
    with open_writer(settings.lake, grace_s=settings.grace_s) as writer:
        found = discover([folder / scenario.run_id], Options(), settings.lake)
        stage_all = steps.stage_in_threads(settings.jobs)
        ingested = steps.ingest(writer, found, stage_all, say)
        owners: dict[type[Table], frozenset[str]] = {
            table: frozenset(day.place.owner for day in given if day.table is table)
            for table in (StepTimings, PowerSamples)
        }
        by_day = ByDay(settings.by_day_rows, owners, say, given, settings.jobs)
        _unfinished.begin(settings.lake, scenario.run_id, given)
        done = analyzing.analyze(writer, settings.thresholds, by_day=by_day)
        publish(settings.lake)
        _unfinished.end(settings.lake)
    shutil.rmtree(spool, ignore_errors=True)
    made = [day for day in given if day.table is StepTimings]
    return Filled(len(made), sum(day.rows for day in made), ingested, done)


def _write(scenario: Scenario, folder: Path, request: Request, say: Say) -> Counters:
    """Write the run's files, unless they are all there.

    Returns:
        Days x GPUs: what counters of energy show before each day. [mJ]
    """
    target = folder / scenario.run_id
    mark, counters = target / _MARK, target / _COUNTERS
    asked = {"key": _key(scenario), "request": msgspec.to_builtins(request)}
    known = json.loads(mark.read_text("utf-8")) if mark.exists() else None
    if known is None:
        generating.refuse_there(target)
        target.mkdir(parents=True, exist_ok=True)
    elif known["asked"] != asked:
        message = f"{target}: of another scenario or time; name another folder"
        raise SettingError(message)
    elif known["whole"]:
        found: Counters = np.load(counters)
        return found
    mark.write_text(json.dumps({"asked": asked, "whole": False}), "utf-8")
    written = generating.write(scenario, folder, request, say)
    shown = np.array([*written.counters.values()], np.int64)
    np.save(counters, shown)
    mark.write_text(json.dumps({"asked": asked, "whole": True}), "utf-8")
    return shown


def _key(scenario: Scenario) -> str:
    """Return what stands for all that a scenario makes."""
    said = json.dumps([MADE, msgspec.to_builtins(scenario)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
