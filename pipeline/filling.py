"""Fill a lake with a generated cluster: old days as rollups, the last ones as rows.

No row of the old days is ever written. Each day is made a window at a time and
condensed as a day of a lake is; where a rollup reads steps again they are made again.
Samples of power are kept while their day is condensed.
"""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.discovery import Options, discover
from ingest.lake import Writer, open_writer
from ingest.synthetic.cluster._days import days_of
from ingest.synthetic.cluster.cluster import cluster_of
from ingest.synthetic.cluster.power_days import PowerDay
from ingest.synthetic.cluster.scenario import Scenario
from ingest.tables import PowerSamples, StepTimings, Table
from ingest.times import DAY_NS, SECOND_NS
from pipeline import _unfinished, analyzing, generating, steps
from pipeline._filling_files import (
    MARK,
    SPOOL,
    clear,
    key_of,
    refuse_nested,
    write,
)
from pipeline._given_power import given_power
from pipeline._given_steps import given_steps
from pipeline._making import making
from pipeline._owners import ByDay
from pipeline.analyzing import Analyzed
from pipeline.generating import Request
from pipeline.logs import Say
from pipeline.publishing import publish
from pipeline.settings import Settings
from pipeline.summaries import Ingested


@dataclass(frozen=True, slots=True)
class Target:
    """Where a cluster goes.

    Attributes:
        settings: The lake, and how it is analysed.
        keep: Days before the last whose rows are written and ingested, too. [d]
        wait: Whether to wait for another writer of the lake.
    """

    settings: Settings
    keep: int
    wait: bool = False


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
    that was not finished. Lake and folder are locked before anything is written.

    Args:
        scenario: The cluster.
        folder: Where the run's files go: all but steps and power of old days.
        request: What is generated; steps of the last days as Parquet.
        target: The lake, and what it keeps of rows.
        say: Told of each day.

    Raises:
        SettingError: If other files are in the run's folder, it and the lake are in one
            another, or the request cannot be met.
        TelemetryError: If the lake cannot be used.
        OSError: If files cannot be written or read.
    """
    settings, made = target.settings, folder / scenario.run_id
    refuse_nested(settings.lake, made)
    generating.refuse_request(request, scenario)
    generating.span_of(scenario, request.hours)
    if not (made / MARK).exists():
        generating.refuse_there(made)
    with (
        making(folder, scenario.run_id),
        open_writer(
            settings.lake, wait=target.wait, grace_s=settings.grace_s
        ) as writer,
    ):
        return _fill(scenario, folder, request, target, (writer, say))


def _fill(
    scenario: Scenario,
    folder: Path,
    request: Request,
    target: Target,
    doing: tuple[Writer, Say],
) -> Filled:
    """Generate a cluster into a lake that is locked."""
    settings, (writer, say) = target.settings, doing
    begun, until = generating.span_of(scenario, request.hours)
    cluster = cluster_of(scenario, until)
    since = max(begun, ((until - 1) // DAY_NS - target.keep) * DAY_NS)
    whole = replace(request, form="parquet", rows_from_ns=since)
    clear(folder / scenario.run_id)
    counters = write(scenario, folder, whole, say)
    given = [*given_steps(cluster, key_of(scenario), begun, since)]
    spool = folder / scenario.run_id / SPOOL
    if request.interval_s > 0:
        interval_ns = max(round(request.interval_s * SECOND_NS), 1)
        power = [
            PowerDay(cluster, span, interval_ns, shown)
            for span, shown in zip(days_of(begun, since), counters, strict=False)
        ]
        given += given_power(power, key_of(scenario), spool)
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
