"""One row per measured series and model of a collective, both numbers side by side."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._latency_series import SERIES
from analysis._latency_shapes import SHAPE, shapes
from analysis.collective_models import MODELS
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes
from ingest.tables import RunCards, Table
from ingest.tables import _columns as c

#: Time of a round of small messages, inside a node and between nodes, and of a
#: collective before its first. Source: NCCL, src/graph/tuning.cc: hardware latencies of
#: NVLink and network under LL (0.6 us; 5.0 us for trees), base latency of rings. [ns]
ROUND_INSIDE_NS: Final = 600.0
ROUND_BETWEEN_NS: Final = 5_000.0
BASE_NS: Final = 6_600.0


class LatencyModels(Table):
    """One row per measured series and model of a collective."""

    key: ClassVar = (*SERIES, "model")

    run_id = c.identifier("Run that the row belongs to.")
    source = c.choice("Where the times are from.", ("trace", "benchmark"))
    scope = c.choice(
        "What was brought together.", ("group", "parallel_kind", "hosts", "test")
    )
    group_id = c.identifier(
        "Group of ranks, parallel kind of several groups, nodes or test."
    )
    kind = c.identifier("Kind of collective.")
    ranks = c.number("Ranks of the group.", nullable=True)
    in_place = c.flag(
        "Whether results replaced the input, where a benchmark tells.", nullable=True
    )
    model = c.choice("Algorithm on paper.", tuple(MODELS))
    nodes = c.number("Nodes that the ranks are on.", nullable=True)
    rounds = c.number("Rounds of the algorithm, one after the other.", nullable=True)
    round_ns = c.duration_ns(
        "Time of a round that the measured fixed part implies.", nullable=True
    )
    round_low_ns = c.duration_ns("Lower end of its interval.", nullable=True)
    round_high_ns = c.duration_ns("Upper end of its interval.", nullable=True)
    inside_gbs = c.quantity(
        "What a GPU must send inside its node to reach the measured bandwidth.",
        "GB/s",
        nullable=True,
    )
    between_gbs = c.quantity(
        "The same between nodes; through the only link where nodes are not known.",
        "GB/s",
        nullable=True,
    )
    inside_told_gbs = c.quantity(
        "Bandwidth of a GPU inside its node, on the run card.", "GB/s", nullable=True
    )
    between_told_gbs = c.quantity(
        "Bandwidth of a GPU between nodes, on the run card.", "GB/s", nullable=True
    )
    is_possible = c.flag(
        "Whether links are fast enough, at the low end of the interval.", nullable=True
    )
    alpha_ns = c.duration_ns("Fixed part as measured.", nullable=True)
    model_alpha_ns = c.duration_ns("Fixed part on paper.", nullable=True)
    busbw_gbs = c.quantity("Asymptote as measured.", "GB/s", nullable=True)
    model_busbw_gbs = c.quantity("Asymptote on paper.", "GB/s", nullable=True)
    misfit_ratio = c.ratio(
        "How far times on paper are from the measured ones, median of all sizes.",
        nullable=True,
    )
    is_closest = c.flag(
        "Whether no other model of the series is closer.", nullable=True
    )
    reason = c.text("What is missing for a number.")


#: What may be set, with its default.
THRESHOLDS: Final = {
    "round_inside_ns": ROUND_INSIDE_NS,
    "round_between_ns": ROUND_BETWEEN_NS,
    "collective_base_ns": BASE_NS,
}


def compare_models(
    frames: Frames, thresholds: Thresholds = THRESHOLDS
) -> dy.DataFrame[LatencyModels]:
    """Lay the fitted lines beside those of algorithms on paper.

    It is a comparison, no claim: the library's choice changes with the size, and a
    round's time is not told by any source. What links cannot carry is ruled out.

    Args:
        frames: Fits, their sizes, and run cards.
        thresholds: Those of THRESHOLDS.

    Returns:
        A row per series with a line and model, in the order of the key.
    """
    cards = frames[RunCards].select(
        "run_id", inside_told_gbs="nvlink_gbs", between_told_gbs="network_gbs"
    )
    lines = frames[LatencyAnatomy].filter(pl.col("beta_gbs").is_not_null())
    series = lines.join(cards, on="run_id", how="left").collect()
    paper = shapes(series, *(thresholds[name] for name in THRESHOLDS))
    rows = series.drop("reason").join(paper, on=list(SHAPE), nulls_equal=True)
    told = rows.with_columns(**_implied(), **_on_paper(), reason="missing")
    misfits = _misfits(told, frames[LatencySizes].collect())
    keys = list(LatencyModels.key)
    joined = told.join(misfits, on=keys, how="left", nulls_equal=True)
    misfit = pl.col("misfit_ratio")
    closest = joined.with_columns(is_closest=misfit == misfit.min().over(SERIES))
    ordered = closest.select(LatencyModels.column_names()).sort(keys)
    return LatencyModels.validate(ordered, cast=True)


def _implied() -> dict[str, pl.Expr]:
    """Return what the measured line asks of rounds and links, by the model."""
    beta, rounds = pl.col("beta_gbs"), pl.col("rounds")
    some = pl.when(rounds > 0)
    fits = [
        (pl.col("beta_low_gbs") * pl.col(f"{name}_ratio") <= pl.col(f"{name}_told_gbs"))
        | (pl.col(f"{name}_ratio") == 0)
        for name in ("inside", "between")
    ]
    return {
        "round_ns": some.then((pl.col("alpha_ns") / rounds).round()),
        "round_low_ns": some.then((pl.col("alpha_low_ns") / rounds).round()),
        "round_high_ns": some.then((pl.col("alpha_high_ns") / rounds).round()),
        "inside_gbs": beta * pl.col("inside_ratio"),
        "between_gbs": beta * pl.col("between_ratio"),
        "is_possible": pl.when(pl.col("nodes").is_not_null()).then(fits[0] & fits[1]),
    }


def _on_paper() -> dict[str, pl.Expr]:
    factor = pl.col("busbw_gbs") / pl.col("beta_gbs")
    per_byte = pl.col("ns_per_byte")
    return {
        "model_alpha_ns": pl.col("fixed_ns").round(),
        "model_busbw_gbs": pl.when(per_byte > 0).then(factor / per_byte),
    }


def _misfits(told: pl.DataFrame, sizes: pl.DataFrame) -> pl.DataFrame:
    """Return how far each model is from the medians of its series. [1]"""
    models = told.select(*LatencyModels.key, "fixed_ns", "ns_per_byte")
    timed = sizes.filter((pl.col("bytes_total") > 0) & (pl.col("p50_ns") > 0))
    paper = pl.col("fixed_ns") + pl.col("ns_per_byte") * pl.col("bytes_total")
    return (
        timed.join(models, on=list(SERIES), nulls_equal=True)
        .group_by(LatencyModels.key)
        .agg(misfit_ratio=(paper / pl.col("p50_ns") - 1).abs().median())
    )


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return {LatencyModels: compare_models(frames, thresholds)}


ANALYSIS: Final = Analysis(
    name="latency_models",
    version=1,
    describes="Which algorithm on paper comes closest to the measured times",
    inputs=(RunCards, LatencyAnatomy, LatencySizes),
    needs=(LatencyAnatomy,),
    outputs=(LatencyModels,),
    compute=_compute,
    thresholds=THRESHOLDS,
)
