"""What broke: lines of failure logs, brought together by cause."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._failure_events import (
    JOB_SLACK_NS,
    accompanied,
    group_lines,
    lay_to_gpu,
)
from analysis._failure_roles import CATEGORIES, ROLES, SEVERITIES, category
from analysis._failure_runs import lay_to_runs
from analysis._held_nodes import held_nodes, job_nodes, last_holder
from analysis._host_names import host_names, spelled_alike
from analysis._incident_chains import (
    absorb,
    chain,
    merge_in_attempts,
    merge_under_switches,
)
from analysis._incident_sums import name_incidents, sum_up
from analysis._xid_gauge import edges_of_days, edges_of_gauge
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.power_days import PowerDays, XidChanges
from ingest.tables import Failures, Jobs, PowerSamples, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Longest silence inside an event. Delta's rule (arXiv 2503.11901): equal errors of a
#: GPU within 5 s are one.
EVENT_GAP_S: Final = 5.0

#: Longest silence inside an incident: checks of health run every 5 minutes (arXiv
#: 2410.21680), so what one of them still sees belongs to what the last one saw.
INCIDENT_WINDOW_S: Final = 300.0

#: Longest event and longest incident: Delta's rule caps a spell at a day, so that what
#: goes on for weeks is not counted as one.
SPELL_S: Final = 86_400.0


class Incidents(Table):
    """One row per cause on a node or fabric."""

    key: ClassVar = ("incident_id",)

    incident_id = c.identifier("Incident.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier(
        "Node; null where no source tells, or where several nodes share the cause.",
        nullable=True,
    )
    gpu_key = c.identifier("GPU of the root event.", nullable=True)
    first_ns = c.time_ns("First event.", nullable=True)
    last_ns = c.time_ns("Last event.", nullable=True)
    root_source = c.identifier("Family of the root code.")
    root_code = c.identifier("Code that started it.")
    name = c.text("Meaning of the code.")
    component = c.identifier("Component at fault.", nullable=True)
    category = c.choice("Whose it is.", CATEGORIES)
    severity = c.choice(
        "How bad the root code is; what is no worse than info is listed, and neither"
        " counted as a failure nor blamed for an interruption. Null where nothing says:"
        " it counts as an error.",
        SEVERITIES,
        nullable=True,
    )
    action = c.identifier(
        "What the catalogue says to do about the root code; null where it does not"
        " hold the code.",
        nullable=True,
    )
    catalogue = c.identifier(
        "Catalogue of Xid codes that was used; null for other codes.", nullable=True
    )
    role = c.choice("What the incident is in the chain of causes.", ROLES)
    lines = c.tally("Lines of the sources.")
    events = c.tally("Events: same GPU and code within the gap.")
    host_count = c.count("Nodes that tell of it.")


class IncidentEvents(Table):
    """One row per event: lines of one GPU and code that follow each other closely."""

    key: ClassVar = (
        "incident_id",
        "host",
        "gpu_key",
        "source",
        "code",
        "first_ns",
        "told_run_id",
    )

    incident_id = c.identifier("Incident that the event belongs to.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where no source tells.", nullable=True)
    gpu_key = c.identifier("GPU, by the best identity known.", nullable=True)
    source = c.identifier("Family of the code.")
    code = c.identifier("Code.")
    name = c.text("Meaning of the code.")
    component = c.identifier("Component at fault.", nullable=True)
    category = c.choice("Whose it is.", CATEGORIES)
    severity = c.choice("How bad it is.", SEVERITIES, nullable=True)
    action = c.identifier("What the catalogue says to do.", nullable=True)
    role = c.choice("What the event is in the chain of causes.", ROLES)
    first_ns = c.time_ns("First line; null where it has no time.", nullable=True)
    last_ns = c.time_ns("Last line.", nullable=True)
    lines = c.tally("Lines of the sources.")
    run_id = c.identifier(
        "Run whose own log tells of it, else the one that held the node then.",
        nullable=True,
    )
    attempt = c.index("Attempt of that run.", nullable=True)
    told_run_id = c.identifier(
        "Run in whose own log its lines stand, as `failures.run_id` says; null for the"
        " lines of nodes and schedulers.",
        nullable=True,
    )
    undated = c.number(
        "Of a line without a time its position among those that are alike, in the"
        " order of boot_offset_ns, message and occurrence.",
        nullable=True,
    )


def find_incidents(frames: Frames, thresholds: Thresholds) -> Results:
    """Bring failure lines together to events, and events to incidents."""
    span_ns = round(thresholds["incident_spell_s"] * SECOND_NS)
    gap_ns = round(thresholds["incident_event_gap_s"] * SECOND_NS)
    window_ns = round(thresholds["incident_window_s"] * SECOND_NS)
    nodes = held_nodes(frames[Attempts], frames[Gpus]).collect().lazy()
    held_jobs = [job_nodes(frames[Jobs]), nodes.drop("run_id", "attempt")]
    jobs = pl.concat(held_jobs, how="diagonal").unique()
    told = [
        frames[Failures],
        edges_of_gauge(frames[PowerSamples]),
        edges_of_days(frames[XidChanges], frames[PowerDays]),
    ]
    failures = pl.concat(told, how="vertical_relaxed")
    told_of = frames[Gpus].select("cluster", Gpus.host.name, Gpus.switch.name)
    switches = told_of.unique().collect().lazy()
    names = host_names([nodes, jobs, switches, failures]).collect().lazy()
    jobs, switches, failures = (
        spelled_alike(rows, names) for rows in (jobs, switches, failures)
    )
    lines = group_lines(failures, gap_ns, span_ns)
    held = last_holder(lay_to_gpu(lines, jobs), nodes.drop("job_id"), JOB_SLACK_NS)
    placed = lay_to_runs(held, frames[Attempts]).collect()
    chained = merge_in_attempts(accompanied(chain(placed, window_ns, span_ns)))
    events = absorb(merge_under_switches(chained, switches.collect()))
    named = name_incidents(events).with_columns(category=category())
    return {
        Incidents: sum_up(named).select(Incidents.column_names()),
        IncidentEvents: named.select(IncidentEvents.column_names()),
    }


ANALYSIS: Final = Analysis(
    name="incidents",
    version=7,
    describes="What broke, by cause: lines, events and incidents.",
    inputs=(Failures, PowerSamples, XidChanges, PowerDays, Jobs, Attempts, Gpus),
    needs=(Failures,),
    outputs=(Incidents, IncidentEvents),
    compute=find_incidents,
    thresholds={
        "incident_event_gap_s": EVENT_GAP_S,
        "incident_window_s": INCIDENT_WINDOW_S,
        "incident_spell_s": SPELL_S,
    },
)
