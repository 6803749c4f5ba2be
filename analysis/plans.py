"""The run on paper: one row per line of a plan, beside what was measured of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._plan_lines import GROUPS, RULES, draw_up
from analysis._plan_measured import STANDS_IN, measured
from analysis._plan_rules import Known
from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.goodput import Goodput
from analysis.interrupt_rates import InterruptRates
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.overlap_groups import OverlapGroups
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.power_swings import PowerSwings
from analysis.replays import ReplaySteps
from analysis.spare_plans import SparePlans
from analysis.step_rollups import StepRollups
from ingest.tables import Checkpoints, Collectives, RunCards, StepTimings, Table
from ingest.tables import _columns as c

#: Marks an input that telemetry told, as the card did not.
_LAKE: Final = "lake"


#: Length of a step, and lines that grow or shrink with it: the power that they do by.
_STEP: Final = "step_time"
_BY_STEP: Final[Mapping[str, int]] = MappingProxyType(
    {"step": 1, "mfu": -1, "data_rate": -1, "run_time": 1, "run": 1}
)


class Plans(Table):
    """One row per run and line of its plan."""

    key: ClassVar = ("run_id", "section", "name")

    run_id = c.identifier("Run that the plan is of.")
    number = c.number("Place of the line in the plan, counted from one.")
    section = c.choice("Part of the plan.", GROUPS)
    name = c.identifier("Name of the line.")
    value = c.real(
        "What the formula gives; null where an input is missing.", nullable=True
    )
    unit = c.identifier("Unit of both values; 1 where they have none.")
    formula = c.text("The formula, in names of inputs.")
    inputs = c.text("Each input with its value, and where that is from.")
    measured = c.real("What was measured; null where nothing was.", nullable=True)
    measured_from = c.text("Table that it was measured in, and how.")
    difference_ratio = c.ratio(
        "Measured over planned, less one.", minimum=None, nullable=True
    )
    note = c.text("What is missing for a value, what limits it, or who says so.")


#: Tables that plans are made of.
INPUTS: Final[tuple[type[Table], ...]] = (
    RunCards,
    StepTimings,
    StepRollups,
    Checkpoints,
    Collectives,
    Attempts,
    Overlap,
    OverlapGroups,
    ReplaySteps,
    PipelineBubbles,
    InterruptRates,
    SparePlans,
    LostTime,
    Energy,
    PowerSwings,
    Goodput,
)


def plan_runs(frames: Frames) -> pl.DataFrame:
    """Work out a plan for each run card, and lay beside it what was measured.

    Args:
        frames: Run cards, and the tables of INPUTS that are there.

    Returns:
        Rows of Plans, in the order of the key.
    """
    found = measured(frames)
    cards = frames[RunCards].sort("run_id").collect()
    plans = [
        _planned(card, found.filter(pl.col("run_id") == card["run_id"]))
        for card in cards.iter_rows(named=True)
    ]
    rows = pl.concat([Plans.create_empty(), *plans], how="diagonal_relaxed")
    return Plans.validate(rows.sort(Plans.key), cast=True)


def _planned(card: Mapping[str, Any], found: pl.DataFrame) -> pl.DataFrame:
    told = {
        STANDS_IN[name]: Known(value, f"{_LAKE} {source}")
        for name, value, source in found.drop("run_id").iter_rows()
        if name in STANDS_IN
    }
    lines = draw_up(card, told)
    fields = [field for field in Plans.column_names() if hasattr(lines[0], field)]
    columns = {field: [getattr(line, field) for line in lines] for field in fields}
    types = {name: Plans.create_empty().schema[name] for name in fields}
    rows = pl.DataFrame(columns, schema=types).with_columns(
        run_id=pl.lit(card["run_id"]), number=pl.int_range(1, pl.len() + 1)
    )
    beside = rows.join(_beside(rows, found), on="name", how="left")
    quotient = pl.col("measured") / pl.col("value") - 1
    is_apart = (pl.col("value") != 0) & quotient.is_finite()
    return beside.with_columns(difference_ratio=pl.when(is_apart).then(quotient))


def _beside(rows: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Return what was measured, and what follows from a step as it was measured."""
    # what telemetry told already is no second opinion
    is_told = pl.col("inputs").str.contains(f"({_LAKE} ", literal=True)
    own = rows.filter(is_told)["name"].to_list()
    beside = found.drop("run_id").filter(~pl.col("name").is_in(own))
    step = beside.filter(pl.col("name") == _STEP)["measured"].to_list()
    planned = rows.filter(pl.col("name") == _STEP)["value"].to_list()
    if not step or not planned[0]:
        return beside
    power = pl.col("name").replace_strict(dict(_BY_STEP))
    follows = rows.filter(
        pl.col("name").is_in(list(_BY_STEP)),
        ~pl.col("name").is_in(beside["name"].to_list()),
        pl.col("value").is_not_null(),
    ).select(
        "name",
        measured=pl.col("value") * (step[0] / planned[0]) ** power,
        measured_from=pl.lit("this line with step_time as measured"),
    )
    return pl.concat([beside, follows])


def _compute(frames: Frames, _: Thresholds) -> Results:
    return {Plans: plan_runs(frames)}


ANALYSIS: Final = Analysis(
    name="plans",
    version=4,
    describes="The run on paper, from its card, beside what was measured",
    inputs=INPUTS,
    needs=(RunCards,),
    outputs=(Plans,),
    compute=_compute,
)

__all__ = ["ANALYSIS", "GROUPS", "INPUTS", "RULES", "Plans", "plan_runs"]
