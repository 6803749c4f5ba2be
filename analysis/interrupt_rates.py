"""How often things break, with how sure that is."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._exposure import exposures
from analysis._rate_cells import CELL, cells
from analysis._rate_seen import INPUTS, seen
from analysis.poisson import MeanInterval, mean_interval, mtbf, per_1000_node_days
from ingest.tables import Table
from ingest.tables import _columns as c

#: Below so many events a report shows counts: the interval of 4 events spans a factor
#: of nine, so a rate would feign knowledge.
FEW_EVENTS: Final = 5


class InterruptRates(Table):
    """One row per scope, level and cause."""

    key: ClassVar = (
        "cluster",
        "run_id",
        "level",
        "scope",
        "scope_id",
        "category",
        "component",
    )

    cluster = c.identifier("Cluster.")
    run_id = c.identifier(
        "Run, also of its weeks; null for a cluster as a whole, its weeks, hosts and"
        " models.",
        nullable=True,
    )
    level = c.choice("What is counted.", ("line", "event", "incident", "interruption"))
    scope = c.choice(
        "Where it is counted.", ("cluster", "run", "host", "gpu_model", "week")
    )
    scope_id = c.identifier("Which one; a week as ISO 8601 names it, in UTC.")
    category = c.identifier(
        "Category of the cause; `all` for the sum, without `notice` (incidents that"
        " only notices tell of) and `planned` (interruptions that were meant)."
    )
    component = c.identifier("Component at fault; `all` for the sum.")
    period_start_ns = c.time_ns("Start of the time observed.", nullable=True)
    period_end_ns = c.time_ns("End of the time observed.", nullable=True)
    count = c.count("How many inside the exposure; without one, how many in all.")
    outside_count = c.count(
        "How many beside the exposure: on nodes that no attempt held, or undated."
    )
    exposure_ns = c.gpu_time_ns(
        "Node-time observed; for a run, its own time.", nullable=True
    )
    node_time_ns = c.gpu_time_ns(
        "Node-time observed, for a run too; what the rates are taken of.",
        nullable=True,
    )
    exposure_basis = c.choice("What the exposure was taken from.", ("attempts", "none"))
    mtbf_ns = c.gpu_time_ns(
        "Mean time between them; below 5 of them, show the count instead.",
        nullable=True,
    )
    mtbf_low_ns = c.gpu_time_ns("Lower end of its exact 95 % interval.", nullable=True)
    mtbf_high_ns = c.gpu_time_ns("Upper end; null where unbounded.", nullable=True)
    per_1000_node_days = c.real(
        "Rate for a thousand nodes and a day; below 5 of them, show the count instead.",
        nullable=True,
    )
    per_1000_node_days_low = c.real(
        "Lower end of its exact 95 % interval.", nullable=True
    )
    per_1000_node_days_high = c.real(
        "Upper end of its exact 95 % interval.", nullable=True
    )


def rate_interruptions(frames: Frames, _: Thresholds) -> Results:
    """Count what broke and stopped, and hold it against the time observed."""
    found = seen(frames)
    observed = exposures(found.attempts, found.nodes, found.runs)
    models = found.runs.select("run_id", "gpu_model")
    counted = found.things.join(models, on="run_id", how="left", maintain_order="left")
    counts = cells(counted, observed).sort(CELL)
    means = {count: mean_interval(count) for count in counts["count"].unique()}
    rows = [_rate(row, means) for row in counts.iter_rows(named=True)]
    schema = InterruptRates.create_empty().schema
    return {InterruptRates: pl.DataFrame(rows, schema=schema)}


def _rate(row: Mapping[str, Any], means: Mapping[int, MeanInterval]) -> dict[str, Any]:
    """Return a row of InterruptRates from a cell."""
    count, exposure = row["count"], row["exposure_ns"]
    if not exposure:
        return {**row, "exposure_ns": None, "node_time_ns": None} | {
            "exposure_basis": "none"
        }
    mean, low, high = mtbf(count, exposure, means[count])
    told: dict[str, Any] = {
        "exposure_basis": "attempts",
        "exposure_ns": _exact(exposure),
        "node_time_ns": _exact(row["node_time_ns"]),
        "mtbf_ns": _exact(mean),
        "mtbf_low_ns": _exact(low),
        "mtbf_high_ns": _exact(high),
    }
    if row["node_time_ns"]:
        rate = per_1000_node_days(count, row["node_time_ns"], means[count])
        told |= {
            "per_1000_node_days": rate.value,
            "per_1000_node_days_low": rate.low,
            "per_1000_node_days_high": rate.high,
        }
    return {**row, **told}


def _exact(value: int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


ANALYSIS: Final = Analysis(
    name="interrupt_rates",
    version=2,
    describes="How often clusters, runs, nodes and models break, with exact intervals.",
    inputs=INPUTS,
    outputs=(InterruptRates,),
    compute=rate_interruptions,
)
