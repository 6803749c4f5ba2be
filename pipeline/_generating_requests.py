"""What is asked for of a synthetic cluster, and whether it can be met."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ingest.errors import SettingError
from ingest.synthetic.cluster.cluster import Cluster
from ingest.synthetic.cluster.scenario import MOST_DAYS, Scenario
from ingest.synthetic.cluster.write_traces import TraceTemplate
from ingest.times import SECOND_NS

#: What is written: text as tools leave it, with steps as JSON lines or as CSV; or
#: Parquet.
Format = Literal["raw", "csv", "parquet"]

_HOUR_S: Final = 3_600

#: Time between two samples of power: what a sensor can tell apart, and a day. [s]
LEAST_INTERVAL_S: Final = 0.1
MOST_INTERVAL_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Request:
    """What is generated.

    Attributes:
        form: What is written.
        hours: Hours from the calendar's beginning, down to a second, in which all ends;
            all of it without. [h]
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


def short_of(cluster: Cluster, hours: float | None) -> Iterator[str]:
    """Yield what is less than was asked for, and why.

    Args:
        cluster: What is written.
        hours: Hours that were asked for.
    """
    scenario = cluster.scenario
    if hours is not None and cluster.until_ns == scenario.until_ns:
        days = scenario.calendar.days
        if hours > days * 24:
            yield (
                f"--hours {hours:g}: the calendar has {days * 24:,} hours, all of which"
                " are written; more come with --days"
            )
    if missed := cluster.missed:
        count = sum(missed.values())
        kinds = ", ".join(f"{many:,} {kind}" for kind, many in sorted(missed.items()))
        yield (
            f"{count:,} of {count + len(cluster.faults):,} faults never happen, as the"
            f" run stands still for others or is too short for them: {kinds}"
        )


def refuse_request(request: Request, scenario: Scenario) -> None:
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
    if not 0 <= traces <= scenario.ranks:
        message = f"--traces {traces}: expected 0 to {scenario.ranks} ranks"
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


def span_of(scenario: Scenario, hours: float | None) -> tuple[int, int]:
    """Return from when to when a cluster is generated: whole seconds. [ns]

    Raises:
        SettingError: If the time is none.
    """
    begun = scenario.begun_ns
    if hours is None:
        return begun, scenario.until_ns
    if not 0 < hours < float("inf"):
        message = f"--hours {hours}: expected hours, above 0"
        raise SettingError(message)
    wanted_s = int(min(hours, MOST_DAYS * 24) * _HOUR_S)
    return begun, min(begun + wanted_s * SECOND_NS, scenario.until_ns)
