"""How much energy each run took: in all, for each step and for each token."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_bridges import THRESHOLDS, bridges_of
from analysis._energy_paid import paid_time
from analysis._energy_run import RunEnergy
from analysis._energy_sums import measure_runs
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.fleet_power import FleetPower
from analysis.gpus import Gpus
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from analysis.step_rollups import StepRollups
from ingest.tables import PowerSamples, RunCards, StepTimings, Table
from ingest.tables import _columns as c

#: Share of the GPU time in kept steps that must be measured before its energy is
#: divided by steps: what is missing would make them look cheap. [1]
COVERED_RATIO: Final = 0.95

#: Levels, each with rows of its own: a node draws more than its GPUs, and its supply
#: would count them again.
LEVELS: Final = ("gpu_board", "module", "node_ac")


class EnergyRuns(Table):
    """One row per run or attempt and level of measurement; levels never add up.

    Steps cut no hours: where samples were condensed by day, the part of the energy in
    kept steps is that of the power of all devices together (fleet_power). It may be off
    by what power changes between two points, at each end of a span of kept steps: 5 in
    a million of `productive_j` where 16 GPUs were sampled every 15 s for three days.
    Devices that were measured in another way than most are taken to be alike.
    """

    key: ClassVar = ("run_id", "attempt", "level")

    run_id = c.identifier("Run that the row is about.")
    attempt = c.index("Attempt; null for the whole run.", nullable=True)
    level = c.choice("What was measured.", LEVELS)
    from_ns = c.time_ns("Start of the time held.")
    to_ns = c.time_ns("End of the time held.")
    energy_j = c.quantity(
        "Energy measured in the time held; null where none was.", "J", nullable=True
    )
    coverage_ratio = c.ratio(
        "Share of the time of all GPUs (or nodes) held that was measured."
    )
    devices_count = c.count("GPUs (or nodes) with any energy measured.")
    expected_count = c.count("GPUs (or nodes) that the run held.")
    productive_j = c.quantity(
        "The part of it in steps that were kept.", "J", nullable=True
    )
    productive_coverage_ratio = c.ratio(
        "Share of the time of all GPUs (or nodes) in kept steps that was measured.",
        nullable=True,
    )
    steps = c.number("Steps that were kept, each once.", nullable=True)
    tokens = c.number("Tokens of these steps.", nullable=True)
    tokens_basis = c.choice(
        "Where the tokens are from.", ("run_card", "step_log"), nullable=True
    )
    j_per_step = c.real(
        "Energy of a kept step in joules; null below 95 % coverage of kept steps.",
        nullable=True,
    )
    j_per_token = c.real("Energy of a token in joules.", nullable=True)
    mean_w = c.watts("Mean power of one GPU (or node) measured.", nullable=True)
    peak_w = c.watts("Highest reading of one GPU (or node).", nullable=True)
    quality = c.text(
        "Reasons for doubt, separated by commas; empty where there are none."
    )


def measure(frames: Frames, thresholds: Thresholds) -> Results:
    """Sum up the energy of runs and attempts, by level."""
    found = RunEnergy.of(frames, bridges_of(thresholds))
    sums = measure_runs(frames, found, LEVELS)
    paid = paid_time(found)
    rows = sums.join(paid, on=["run_id", "attempt", "level"], nulls_equal=True)
    cards = frames[RunCards].select("run_id", "tokens_per_step").collect()
    told = (
        rows.join(cards, on="run_id", how="left")
        .with_columns(**_coverage())
        .with_columns(**_tokens())
        .with_columns(**_shares(thresholds["energy_covered_ratio"]))
    )
    ordered = told.select(EnergyRuns.column_names()).sort(EnergyRuns.key)
    return {EnergyRuns: EnergyRuns.validate(ordered, cast=True)}


def _coverage() -> dict[str, pl.Expr]:
    some = pl.col("measured_ns") > 0
    mean = pl.col("timed_j") * 1e9 / pl.col("measured_ns")
    doubts = [
        pl.col("quality"),
        pl.when(pl.col("devices_count") < pl.col("expected_count")).then(
            pl.lit("partial_gpus")
        ),
        pl.when(pl.col("levels") > 1).then(pl.lit("level_mixed")),
    ]
    quality = pl.concat_str(doubts, separator=",", ignore_nulls=True)
    in_steps = pl.col("productive_measured_ns") / pl.col("productive_held_ns")
    return {
        "coverage_ratio": (pl.col("measured_ns") / pl.col("held_ns")).clip(0, 1),
        "productive_coverage_ratio": pl.when(pl.col("productive_held_ns") > 0).then(
            in_steps.clip(0, 1)
        ),
        "mean_w": pl.when(some).then(mean),
        "quality": pl.when(quality != "").then(quality),
    }


def _tokens() -> dict[str, pl.Expr]:
    of_card = pl.col("tokens_per_step") * pl.col("steps")
    return {
        "tokens_basis": pl.when(of_card.is_not_null())
        .then(pl.lit("run_card"))
        .when(pl.col("tokens").is_not_null())
        .then(pl.lit("step_log")),
        "tokens": pl.coalesce(of_card, "tokens"),
    }


def _shares(least: float) -> dict[str, pl.Expr]:
    is_covered = pl.col("productive_coverage_ratio") >= least
    return {
        f"j_per_{name}": pl.when(is_covered & (pl.col(f"{name}s") > 0)).then(
            pl.col("productive_j") / pl.col(f"{name}s")
        )
        for name in ("step", "token")
    }


ANALYSIS: Final = Analysis(
    name="energy_runs",
    version=6,
    describes="How much energy each run took, for each step and each token",
    inputs=(
        PowerSamples,
        PowerHours,
        PowerDays,
        FleetPower,
        Allocations,
        Gpus,
        Attempts,
        StepTimings,
        StepRollups,
        RunCards,
    ),
    needs=(PowerSamples, PowerHours),
    outputs=(EnergyRuns,),
    compute=measure,
    thresholds=THRESHOLDS | {"energy_covered_ratio": COVERED_RATIO},
)
