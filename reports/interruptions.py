"""What stopped the runs, how often, and where the time of a stop goes."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.incidents import IncidentEvents, Incidents
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.interruptions import Interruptions
from analysis.loss_phases import LossPhases
from ingest.tables import GroupStatus, Jobs
from reports import (
    _attempt_lanes,
    _blind_jobs,
    _causes,
    _loss_shown,
    _loss_waterfall,
    _rate_charts,
    _stop_actions,
    _stop_claims,
    _stop_claims_shown,
    _stop_codes,
    _stop_days,
    _stop_evidence,
    _stop_listing,
    _stop_phases,
    _stop_split,
    _stop_words,
)
from reports._numbers import duration
from reports._section import Chart, Content, Scope, Section
from reports._words import plural

#: Attempts that are still told apart on a phone.
_MOST_ATTEMPTS: Final = 100

_HINT: Final = (
    "Stops come from a job list (sacct) or a step log that starts again; their causes"
    " from kernel logs (Xid) and what the job list says."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return what was interrupted, by what, and at which rate."""
    seen = scope.of_runs(frames[Attempts]).sort("run_id", "attempt").collect()
    stops = scope.of_runs(frames[Interruptions]).sort("run_id", "attempt").collect()
    incidents = frames[Incidents].collect()
    phases = _loss_shown.rows_of(frames, scope)
    told = _stop_actions.told(stops, frames)
    claims = _stop_claims.claims(told, phases, scope)
    rates = _rate_charts.overall(frames, scope)
    attempts = seen if incidents.height else _stop_evidence.told(seen)
    if attempts.is_empty() and incidents.is_empty() and stops.is_empty():
        return Content(
            heading=_stop_evidence.unknown(seen, frames, scope),
            empty=_blind_jobs.hint(frames) or _HINT,
        )
    return Content(
        heading=_heading(stops, attempts, _rate_charts.overall(frames, scope, of="run"))
        + _loss_shown.cost(phases, scope)
        + _stop_evidence.untold(seen, attempts),
        paragraphs=[
            *_stop_words.paragraphs(
                stops, incidents, rates, has_runs=attempts.height > 0
            ),
            *filter(
                None,
                [
                    _stop_split.whose(stops),
                    _stop_split.planned(phases, scope),
                    _stop_claims_shown.sentence(claims, scope),
                    _stop_split.second_order(phases, frames, scope),
                    _loss_shown.beside(phases, scope),
                    _stop_codes.catalogue(incidents),
                    _blind_jobs.failed(frames),
                ],
            ),
        ],
        charts=[
            *_over_time(_stop_evidence.told(attempts), stops, scope),
            *_loss_waterfall.chart(phases, scope),
            *_stop_phases.chart(phases, scope),
        ],
        listings=[
            *_loss_waterfall.listings(phases, scope),
            *_stop_listing.listings(told, phases, scope),
            *_stop_claims_shown.listings(claims, scope),
        ],
    )


def _over_time(
    attempts: pl.DataFrame, stops: pl.DataFrame, scope: Scope
) -> list[Chart]:
    """Return each attempt as a bar, or counts where bars would be hairlines."""
    if attempts.height > _MOST_ATTEMPTS:
        return _stop_days.chart(stops, scope)
    return _attempt_lanes.chart(attempts, stops)


def _heading(stops: pl.DataFrame, attempts: pl.DataFrame, rates: pl.DataFrame) -> str:
    unplanned = stops.filter(~pl.col("planned"))
    runs = attempts["run_id"].n_unique()
    if not runs and stops.is_empty():
        return "No run was seen, so that nothing is known to have been interrupted."
    if unplanned.is_empty():
        return f"{plural(runs, 'run')} ran without an unplanned interruption."
    seen = plural(unplanned.height, "interruption")
    return f"{seen}: {_causes.caused(unplanned['category'])}.{_mtbf(rates)}"


def _mtbf(rates: pl.DataFrame) -> str:
    ours = rates.filter(
        (pl.col("level") == "interruption")
        & (pl.col("count") >= FEW_EVENTS)
        & pl.col("mtbf_ns").is_not_null()
    )
    if ours.height != 1:
        return ""
    row = ours.row(0, named=True)
    high = row["mtbf_high_ns"]
    to = duration(high) if high is not None else "unbounded"
    return (
        f" One in {duration(row['mtbf_ns'])} of the run"
        f" (95 %: {duration(row['mtbf_low_ns'])} to {to})."
    )


SECTION: Final = Section(
    "interruptions",
    "Interruptions",
    (
        Attempts,
        Interruptions,
        Incidents,
        IncidentEvents,
        InterruptRates,
        LossPhases,
        Jobs,
        GroupStatus,
    ),
    build,
)
