"""Columns that no field fills: constants, defaults, and what a run card says."""

from typing import Final

import polars as pl

from ingest._mapping_plan import DEFAULTS, Plan
from ingest.sources import Reading

#: Whether a stamp of a row needed the zone of the reading.
NAIVE: Final = "_naive"


def own_columns(plan: Plan, reading: Reading) -> list[pl.Expr]:
    """Return the run, the cluster and the quality of times.

    The run of a run card wins over the data, the data over the other ways to name one.
    """
    columns, given = plan.table.columns(), _given(plan)
    own: list[pl.Expr] = []
    if "run_id" in given or ("run_id" in columns and not columns["run_id"].nullable):
        told = "run_id" in given and reading.run_id_basis != "run_card"
        run = pl.col("run_id") if told else pl.lit(None, pl.String)
        own.append(run.fill_null(reading.run_id).alias("run_id"))
    if "cluster" in columns:
        named = pl.col("cluster") if "cluster" in given else pl.lit(None, pl.String)
        own.append(named.fill_null(reading.cluster).alias("cluster"))
    if "time_quality" in columns and "time_quality" not in given:
        own.append(_quality(plan, reading).alias("time_quality"))
    return own


def _given(plan: Plan) -> set[str]:
    return {target.name for target in plan.targets} | plan.constants.keys()


def _quality(plan: Plan, reading: Reading) -> pl.Expr:
    is_assumed = pl.lit(reading.zone_basis == "assumed") & pl.col(NAIVE)
    known = pl.when(is_assumed).then(pl.lit("zone_assumed")).otherwise(pl.lit("exact"))
    if plan.table.sql_name() != "failures":
        return known
    time = pl.col("time_ns") if "time_ns" in _given(plan) else pl.lit(None, pl.Int64)
    return pl.when(time.is_not_null()).then(known).otherwise(pl.lit("unknown"))


def constants(plan: Plan) -> list[pl.Expr]:
    """Return what the mapping says once, and what is meant where it says nothing."""
    columns = plan.table.columns()
    given = {target.name for target in plan.targets}
    defaults = {
        name: value
        for (table, name), value in DEFAULTS.items()
        if table == plan.table.sql_name() and name not in plan.constants
    }
    missing = [
        pl.lit(value, columns[name].dtype).alias(name)
        if name not in given
        else pl.col(name).fill_null(pl.lit(value, columns[name].dtype))
        for name, value in defaults.items()
    ]
    constants = [
        pl.lit(value, columns[name].dtype).alias(name)
        for name, value in plan.constants.items()
    ]
    return [*missing, *constants]


def required(plan: Plan) -> list[pl.Expr]:
    """Return the rules that rows break which lack a value that they need."""
    return [
        pl.when(pl.col(target.name).is_null()).then(pl.lit(f"{target.name}|required"))
        for target in plan.targets
        if not target.column.nullable
    ]
