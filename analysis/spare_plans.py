"""How many spare nodes pay."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from math import ceil, sqrt
from typing import Any, ClassVar, Final, NamedTuple

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._lemon_failures import node_failures
from analysis._spare_fleets import largest_runs, node_time
from analysis._spare_repairs import BASES, Repair, repair_times
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import IncidentEvents, Incidents
from analysis.interrupt_rates import FEW_EVENTS
from analysis.interruptions import Interruptions
from analysis.poisson import NODE_DAYS, mean_interval, per_1000_node_days
from analysis.runs import Runs
from ingest.tables import Failures, RunCards, Table
from ingest.tables import _columns as c
from ingest.times import DAY_NS

#: Hours until a node is back where no source and no card says: the mean of the
#: InfiniteHBD trace, 3231 node-days of repair after 584 faults. [h]
REPAIR_H: Final = 132.8

#: Numbers of spares are tried up to so many standard deviations above the mean number
#: in repair: beyond that the chance that all are taken is below 1e-9.
_DEVIATIONS: Final = 8

_HOUR_S: Final = 3_600

_ASSUMPTION: Final = (
    "nodes fail independently and are repaired side by side, so that the number in"
    " repair is Poisson (Palm 1943); the whole run waits while more are in repair than"
    " there are spares, and every spare is paid for"
)


class SparePlans(Table):
    """One row per cluster, end of the rate's interval and number of spare nodes."""

    key: ClassVar = ("cluster", "rate_case", "spares")

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Its largest run, which the spares are for.")
    rate_case = c.choice(
        "Rate of failures that is planned with: the estimate or an end of its 95 %"
        " interval.",
        ("low", "estimate", "high"),
    )
    spares = c.tally("Spare nodes.")
    nodes = c.tally("Nodes that the run needs.")
    gpus_per_node = c.tally("GPUs of a node.")
    failures = c.tally("Failures of nodes that the rate is of, those of lemon nodes.")
    node_time_ns = c.gpu_time_ns("Node-time that it is of.")
    per_1000_node_days = c.real("The rate that is planned with.")
    repair_ns = c.gpu_time_ns(
        "Mean time until a node is back; of attempts, what a run lacked it beyond the"
        " wait after stops that took none."
    )
    repair_basis = c.choice(
        "Where that is from: nodes of later attempts, ends of failures in logs, the run"
        " card, or the setting, which is an assumption.",
        BASES,
    )
    failed_nodes = c.tally(
        "Failed nodes of stops after which an attempt was seen.", nullable=True
    )
    returned_nodes = c.tally(
        "Those that the very next attempt of their run held.", nullable=True
    )
    in_repair = c.real("Nodes in repair on average.")
    spare_free_ratio = c.ratio("Probability that a spare is free when a node fails.")
    waiting_ratio = c.ratio("Share of time that the run waits for a repair.")
    daily_waiting_gpu_ns = c.gpu_time_ns("GPU time of the run that waits in a day.")
    daily_idle_gpu_ns = c.gpu_time_ns("GPU time of the spares in a day.")
    daily_cost_gpu_ns = c.gpu_time_ns("Both together.")
    is_best = c.flag("Whether no other number of spares costs less.")
    withheld = c.text(
        "Why the best number is no advice: what holds only if repairs take that long."
    )
    is_held = c.flag("Whether the run card says that so many are held.")
    assumption = c.text("What must hold for it.")


class _Case(NamedTuple):
    """A fleet to plan for."""

    told: dict[str, Any]
    nodes: int
    gpus_per_node: int
    in_repair: float
    held: int | None


def plan_spares(frames: Frames, thresholds: Thresholds) -> Results:
    """Weigh what waiting for repairs costs against what idle spares cost."""
    failures = node_failures(
        frames[Incidents].collect(), frames[IncidentEvents].collect()
    )
    counts = failures.group_by("cluster").agg(pl.col("failures").sum())
    observed = node_time(frames).join(counts, on="cluster", how="left")
    repairs = repair_times(frames, round(thresholds["spare_repair_h"] * _HOUR_S))
    rows = [
        row
        for one in largest_runs(frames).join(observed, on="cluster").to_dicts()
        if (one["failures"] or 0) >= FEW_EVENTS
        for case in _cases(one, repairs.of(one["cluster"], one["run_id"]))
        for row in _rows(case)
    ]
    schema = SparePlans.create_empty().schema
    found = pl.DataFrame(rows, schema=schema, orient="row")
    return {SparePlans: found.sort(SparePlans.key)}


def _cases(one: Mapping[str, Any], repair: Repair) -> Iterator[_Case]:
    """Yield the fleet at the estimate of its rate and at both ends of its interval."""
    count, observed = one["failures"], int(one["node_time_ns"])
    found = per_1000_node_days(count, observed, mean_interval(count))
    rates = {"low": found.low, "estimate": found.value, "high": found.high}
    for case, rate in rates.items():
        busy = rate / NODE_DAYS * one["nodes"] * repair.mean_ns / DAY_NS
        told = {
            "cluster": one["cluster"],
            "run_id": one["run_id"],
            "rate_case": case,
            "nodes": one["nodes"],
            "gpus_per_node": one["gpus_per_node"],
            "failures": count,
            "node_time_ns": Decimal(observed),
            "per_1000_node_days": rate,
            "repair_ns": Decimal(repair.mean_ns),
            "repair_basis": repair.basis,
            "failed_nodes": repair.failed,
            "returned_nodes": repair.at_once,
            "withheld": repair.doubt or None,
            "in_repair": busy,
            "assumption": _ASSUMPTION,
        }
        yield _Case(told, one["nodes"], one["gpus_per_node"], busy, repair.spares)


def _rows(case: _Case) -> list[dict[str, Any]]:
    """Return a row for each number of spares."""
    most = ceil(case.in_repair + _DEVIATIONS * sqrt(case.in_repair)) + 1
    rows = [_row(case, spares) for spares in range(max(most, case.held or 0) + 1)]
    best = min(rows, key=lambda row: (row["daily_cost_gpu_ns"], row["spares"]))
    return [row | {"is_best": row is best} for row in rows]


def _row(case: _Case, spares: int) -> dict[str, Any]:
    waits = 1 - at_most(spares, case.in_repair)
    waiting = round(waits * case.nodes * case.gpus_per_node * DAY_NS)
    idle = spares * case.gpus_per_node * DAY_NS
    return case.told | {
        "spares": spares,
        "spare_free_ratio": at_most(spares - 1, case.in_repair),
        "waiting_ratio": waits,
        "daily_waiting_gpu_ns": Decimal(waiting),
        "daily_idle_gpu_ns": Decimal(idle),
        "daily_cost_gpu_ns": Decimal(waiting + idle),
        "is_held": spares == case.held,
    }


def at_most(nodes: int, in_repair: float) -> float:
    """Return the probability that so many nodes or fewer are in repair. [1]

    Args:
        nodes: Nodes.
        in_repair: Nodes in repair on average.
    """
    from scipy.special import pdtr

    return float(pdtr(nodes, in_repair)) if nodes >= 0 else 0.0


ANALYSIS: Final = Analysis(
    name="spare_plans",
    version=2,
    describes="How many spare nodes pay.",
    inputs=(
        Attempts,
        Gpus,
        Runs,
        RunCards,
        Failures,
        Incidents,
        IncidentEvents,
        Interruptions,
    ),
    outputs=(SparePlans,),
    compute=plan_spares,
    thresholds={"spare_repair_h": REPAIR_H},
)
