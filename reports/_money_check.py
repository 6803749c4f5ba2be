"""The money of the page, added up a second time from the list of jobs alone."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.lost_time import LostTime
from ingest.tables import Jobs
from reports._numbers import THIN, grouped
from reports._section import Scope
from reports._words import listed, plural
from reports.dollars import CENT, dollars

#: What may lie between a list of jobs and the ledger, in words.
_PARTS: Final[Mapping[str, str]] = {
    "between": "for GPUs that stay reserved between attempts",
    "beside": "for GPUs beyond those of the jobs: reserved, or seen at work",
    "running": "for jobs that still run",
    "other": "for jobs that share time, or that tell no end or no GPUs",
}


def sentences(frames: Frames, scope: Scope) -> list[str]:
    """Return what jobs alone say of the cost, beside what the ledger says."""
    rows = compared(frames, scope)
    if rows.is_empty():
        return []
    money = {name: _usd(rows, name, scope) for name in ("jobs", "paid", *_PARTS)}
    few = _few(rows, frames, scope)
    jobs, paid = _cents(money["jobs"]), _cents(money["paid"])
    told = f"Counted again from the job list alone (GPUs x elapsed x price){few}: "
    if jobs == paid:
        return [f"{told}{_said(jobs)}, to the cent what the ledger books."]
    parts = [
        f"{_signed(_cents(money[name]))} {words}"
        for name, words in _PARTS.items()
        if _cents(money[name])
    ]
    return [f"{told}{_said(jobs)}, and the ledger {_said(paid)}: {listed(parts, 4)}."]


def _few(rows: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Say of how many runs, where there is more than one."""
    lost = scope.of_runs(frames[LostTime]).select("run_id").unique().collect()
    if lost.height == 1:
        return ""
    return f" of {plural(rows.height, 'run')} that jobs name"


def compared(frames: Frames, scope: Scope) -> pl.DataFrame:
    """Hold the jobs that name a run against what its ledger books.

    Returns:
        A row for each run that jobs name, sorted: run_id, jobs and paid, and what lies
        between them: between, beside, running and other, which add up to it. [ns]
    """
    jobs = _jobs(scope.of_runs(frames[Jobs].drop_nulls("run_id")))
    is_between = LostTime.attempt.col.is_null()
    time = LostTime.gpu_ns.col.cast(pl.Int128)
    paid = scope.of_runs(frames[LostTime]).group_by("run_id")
    booked = paid.agg(paid=time.sum(), between=time.filter(is_between).sum())
    held = (Attempts.end_ns.col - Attempts.start_ns.col).cast(
        pl.Int128
    ) * Attempts.gpu_count.col.fill_null(0)
    tried = frames[Attempts].group_by("run_id")
    spans = tried.agg(
        held=held.sum(), running=held.filter(Attempts.is_running.col).sum()
    )
    told = jobs.join(booked, on="run_id").join(spans, on="run_id")
    return (
        told.with_columns(
            beside=pl.col("paid") - pl.col("between") - pl.col("held"),
            other=pl.col("held") - pl.col("running") - pl.col("jobs"),
        )
        .select("run_id", "jobs", "paid", *_PARTS)
        .sort("run_id")
        .collect()
    )


def _jobs(jobs: pl.LazyFrame) -> pl.LazyFrame:
    length = (Jobs.end_ns.col - Jobs.start_ns.col).clip(0).cast(pl.Int128)
    return jobs.group_by("run_id").agg(jobs=(length * Jobs.gpu_count.col).sum())


def _usd(rows: pl.DataFrame, name: str, scope: Scope) -> Decimal:
    costs = [
        dollars(gpu_ns, scope.price(run_id))
        for run_id, gpu_ns in rows.select("run_id", name).iter_rows()
    ]
    return sum(costs, Decimal())


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT)


def _said(amount: Decimal) -> str:
    return f"{grouped(amount)}{THIN}USD"


def _signed(amount: Decimal) -> str:
    return f"{_said(abs(amount))} {'more' if amount > 0 else 'less'}"
