"""What stopped a run, and when it went on."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._attribution import attribute
from analysis._failure_roles import CATEGORIES, ROLES, is_planned_by_operator
from analysis._held_nodes import held_nodes, known_clusters
from analysis._stops import (
    CANCELLED,
    COMPLETED,
    OUT_OF_MEMORY,
    PLANNED,
    SCHEDULED,
    find_stops,
    first_new_steps,
)
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from ingest.phrases import phrase
from ingest.tables import StepTimings, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: How long before the end of an attempt its cause may have shown: Meta's rule (arXiv
#: 2410.21680), two rounds of health checks of 5 minutes.
BEFORE_END_S: Final = 600.0

#: How long after its end: Meta's rule, one more round of health checks.
AFTER_END_S: Final = 300.0

#: How long before the end of its last completed step: a run that hangs has stopped
#: stepping long before it ends, and clocks of logs are good to some seconds.
BEFORE_LAST_STEP_S: Final = 60.0

#: Roles that make a cancellation one that was not meant: processes that are torn down
#: raise the codes of users and of cleanup themselves.
_FORCING: Final = ["root", "symptom"]


class Interruptions(Table):
    """One row per interruption of a run."""

    key: ClassVar = ("run_id", "attempt")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
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
    last_step_end_ns = c.time_ns(
        "End of the last step that every rank completed.", nullable=True
    )
    detected_ns = c.time_ns("First sign of the incident.", nullable=True)
    decided_ns = c.time_ns("End of the attempt.", nullable=True)
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
    stops = first_new_steps(find_stops(attempts), frames[StepTimings])
    nodes = held_nodes(frames[Attempts], frames[Gpus]).collect()
    causes = attribute(
        _windows(stops, thresholds),
        nodes,
        frames[IncidentEvents].collect(),
        frames[Incidents].collect(),
    )
    columns = ["run_id", "attempt"]
    known = nodes.select(columns).unique().with_columns(_has_nodes=True)
    joined = (
        stops.drop("cluster")
        .join(causes, on=columns, how="left")
        .join(known, on=columns, how="left")
    )
    return {Interruptions: _describe(joined)}


def _windows(stops: pl.DataFrame, thresholds: Thresholds) -> pl.DataFrame:
    """Return the time around each stop in which its cause shows, and as what."""
    before, after, step = (
        round(thresholds[f"attribution_{name}_s"] * SECOND_NS)
        for name in ("before_end", "after_end", "before_last_step")
    )
    end = Attempts.end_ns.col
    stepped = Attempts.last_step_end_ns.col - step
    stood_still = Attempts.last_step_end_ns.col < end - before
    cancelled = (Attempts.state.col == CANCELLED).fill_null(value=False)
    roles = pl.when(cancelled).then(_FORCING).otherwise(pl.lit(list(ROLES)))
    scheduled = Attempts.state.col.is_in(SCHEDULED).fill_null(value=False)
    done = (Attempts.state.col == COMPLETED).fill_null(value=False)
    is_open = ~scheduled | (stood_still.fill_null(value=False) & ~done)
    return stops.filter(is_open).select(
        "run_id",
        "attempt",
        "cluster",
        from_ns=pl.max_horizontal(
            pl.min_horizontal(end - before, stepped), Attempts.start_ns.name
        ),
        to_ns=pl.when(cancelled).then(end).otherwise(end + after),
        roles=roles,
    )


def _describe(stops: pl.DataFrame) -> pl.DataFrame:
    is_caused = pl.col("incident_id").is_not_null()
    meant = pl.col("state").is_in(PLANNED).fill_null(value=False) & ~is_caused
    planned = meant | is_planned_by_operator().fill_null(value=False)
    return stops.select(
        "run_id",
        "attempt",
        "incident_id",
        "other_incident_ids",
        "component",
        "last_step_end_ns",
        "detected_ns",
        "first_step_ns",
        "lost_steps",
        planned=planned,
        category=pl.when(is_caused).then("category").otherwise(_own_category()),
        cause=_cause(is_caused),
        decided_ns=Attempts.end_ns.col,
        requeued_ns=pl.when(pl.col("next_submit_ns").is_not_null()).then(
            pl.max_horizontal("next_submit_ns", Attempts.end_ns.name)
        ),
        started_ns=pl.col("next_start_ns"),
    ).select(Interruptions.column_names())


def _own_category() -> pl.Expr:
    """Return whose a stop is by the state of its job alone."""
    state = pl.col("state")
    return (
        pl.when(state.is_in(SCHEDULED))
        .then(pl.lit("scheduler"))
        .when(state.is_in([CANCELLED, OUT_OF_MEMORY]))
        .then(pl.lit("user"))
        .otherwise(pl.lit("unattributed"))
    )


def _cause(is_caused: pl.Expr) -> pl.Expr:
    """Say in words what stopped the run, or what is known instead."""
    code = phrase("{} {}", "root_source", "root_code")
    told = pl.concat_str([code, pl.col("name")], separator=": ", ignore_nulls=True)
    state = pl.col("state").fill_null("state unknown")
    is_known = pl.col("_has_nodes").fill_null(value=False)
    return (
        pl.when(is_caused)
        .then(told)
        .when(pl.col("state").is_in([*PLANNED, *SCHEDULED, OUT_OF_MEMORY]))
        .then(phrase("job state {}", state))
        .when(is_known)
        .then(phrase("{}: no failure on its nodes around its end", state))
        .otherwise(phrase("{}: its nodes are not known", state))
    )


ANALYSIS: Final = Analysis(
    name="interruptions",
    version=3,
    describes="What stopped each run, and how long it took to go on.",
    inputs=(Attempts, Gpus, StepTimings, Incidents, IncidentEvents),
    outputs=(Interruptions,),
    compute=find_interruptions,
    thresholds={
        "attribution_before_end_s": BEFORE_END_S,
        "attribution_after_end_s": AFTER_END_S,
        "attribution_before_last_step_s": BEFORE_LAST_STEP_S,
    },
)
