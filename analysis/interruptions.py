"""What stopped a run, and when it went on."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._attribution import attribute
from analysis._failure_roles import CATEGORIES
from analysis._held_nodes import held_nodes, known_clusters
from analysis._stop_causes import category, cause, component, planned
from analysis._stop_windows import (
    AFTER_END_S,
    BEFORE_END_S,
    BEFORE_LAST_STEP_S,
    windows_of,
)
from analysis._stops import find_stops, first_new_steps
from analysis._stops_inside import (
    lay_hangs,
    shown_hangs,
    stops_in_failures,
    stops_in_hangs,
    stops_in_pauses,
)
from analysis.attempts import Attempts, StepPauses
from analysis.gpus import Gpus
from analysis.hangs import Hangs, HangSuspects
from analysis.incidents import IncidentEvents, Incidents
from ingest.tables import StepTimings, Table
from ingest.tables import _columns as c


class Interruptions(Table):
    """One row per interruption of a run."""

    key: ClassVar = ("run_id", "attempt", "stop")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    stop = c.index("Position among the interruptions of the attempt, by time.")
    kind = c.choice(
        "What shows it: the end of the attempt; steps that are done again while its job"
        " goes on; a pause with a failure; a hang after which nothing is known, as its"
        " ranks tell or a fatal failure of a node of a job that still runs.",
        ("end", "went_back", "pause", "hang"),
    )
    incident_id = c.identifier(
        "Incident that it is attributed to; null: unattributed.", nullable=True
    )
    other_incident_ids = c.text(
        "Other incidents on its nodes around its end, separated by commas."
    )
    planned = c.flag("Whether it was meant.")
    component = c.identifier("Component at fault.", nullable=True)
    category = c.choice("Whose it is.", CATEGORIES)
    cause = c.text("Cause in words.")
    hang_id = c.identifier(
        "Hang that the ranks were in, where their dumps or polls tell.", nullable=True
    )
    suspect_ranks = c.text(
        "Ranks in which that hang may have begun, separated by commas; `host:position`"
        " where only polls tell."
    )
    cancelled_by = c.identifier("User who cancelled the job.", nullable=True)
    last_step_end_ns = c.time_ns(
        "End of the last step that every rank completed.", nullable=True
    )
    detected_ns = c.time_ns(
        "First sign of the incident while the attempt ran.", nullable=True
    )
    decided_ns = c.time_ns("End of the job; null where none ended.", nullable=True)
    requeued_ns = c.time_ns(
        "When the next attempt was submitted, the end where that was before.",
        nullable=True,
    )
    started_ns = c.time_ns("Start of the next attempt.", nullable=True)
    first_step_ns = c.time_ns("Start of the first new step.", nullable=True)
    lost_steps = c.number("Steps that were done again.", nullable=True)


def find_interruptions(frames: Frames, thresholds: Thresholds) -> Results:
    """Find every stop of a run, lay it to an incident and tell its times."""
    attempts = known_clusters(frames[Attempts], frames[Gpus]).collect()
    hangs = shown_hangs(frames[Hangs], frames[HangSuspects])
    nodes = held_nodes(frames[Attempts], frames[Gpus]).collect()
    stops = _all_stops(attempts, hangs, nodes, frames)
    causes = attribute(
        windows_of(stops, thresholds),
        nodes,
        frames[IncidentEvents].collect(),
        frames[Incidents].collect(),
    )
    known = nodes.select(_ATTEMPT).unique().with_columns(_has_nodes=pl.lit(value=True))
    joined = (
        stops.drop("cluster")
        .join(causes, on=[*_ATTEMPT, "stop"], how="left")
        .join(lay_hangs(stops, hangs), on=[*_ATTEMPT, "stop"], how="left")
        .join(known, on=_ATTEMPT, how="left")
    )
    return {Interruptions: _describe(joined.filter(_is_stop()))}


_ATTEMPT: Final = ["run_id", "attempt"]


def _all_stops(
    attempts: pl.DataFrame, hangs: pl.DataFrame, nodes: pl.DataFrame, frames: Frames
) -> pl.DataFrame:
    """Return ends of attempts, pauses inside them, and hangs, numbered."""
    ended = first_new_steps(find_stops(attempts), frames[StepTimings])
    paused = stops_in_pauses(attempts, frames[StepPauses].collect())
    known = pl.concat([ended, paused], how="diagonal")
    first = hangs.unique(_ATTEMPT, keep="first", maintain_order=True)
    hung = stops_in_hangs(attempts, known, first)
    every = pl.concat([known, hung], how="diagonal")
    failed = stops_in_failures(attempts, every, nodes, frames[IncidentEvents])
    return _numbered(pl.concat([every, failed], how="diagonal"))


def _numbered(stops: pl.DataFrame) -> pl.DataFrame:
    """Number the stops of each attempt in order of time; its end is the last."""
    at = pl.coalesce("last_step_end_ns", "first_step_ns", "hung_ns")
    ordered = stops.sort(*_ATTEMPT, pl.col("kind") == "end", at, nulls_last=True)
    number = pl.int_range(pl.len(), dtype=pl.Int32).over(_ATTEMPT)
    return ordered.with_columns(stop=number)


def _is_stop() -> pl.Expr:
    """Return whether a pause was a stop: a failure or a hang must tell of it."""
    is_pause = pl.col("kind") == "pause"
    is_bad = pl.col("severity").is_null() | pl.col("severity").is_in(["error", "fatal"])
    is_told = pl.col("incident_id").is_not_null() & is_bad
    return ~is_pause | is_told | pl.col("hang_id").is_not_null()


def _describe(stops: pl.DataFrame) -> pl.DataFrame:
    resubmitted = pl.max_horizontal("next_submit_ns", Attempts.end_ns.name)
    told = stops.with_columns(
        planned=planned(),
        category=category(),
        component=component(),
        cause=cause(),
        decided_ns=Attempts.end_ns.col,
        requeued_ns=pl.when(pl.col("next_submit_ns").is_not_null()).then(resubmitted),
        started_ns=pl.col("next_start_ns"),
    )
    return _numbered(told).select(Interruptions.column_names())


ANALYSIS: Final = Analysis(
    name="interruptions",
    version=6,
    describes="What stopped each run, and how long it took to go on.",
    inputs=(
        Attempts,
        StepPauses,
        Gpus,
        StepTimings,
        Incidents,
        IncidentEvents,
        Hangs,
        HangSuspects,
    ),
    outputs=(Interruptions,),
    compute=find_interruptions,
    thresholds={
        "attribution_before_end_s": BEFORE_END_S,
        "attribution_after_end_s": AFTER_END_S,
        "attribution_before_last_step_s": BEFORE_LAST_STEP_S,
    },
)
