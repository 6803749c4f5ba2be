"""What the GPUs drew, how much of it was measured, and how well."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.energy import Energy
from analysis.energy_checks import EnergyChecks
from analysis.energy_runs import EnergyRuns
from analysis.fleet_power import FleetPower
from analysis.lost_time import LostTime
from analysis.power_days import PowerDays
from analysis.runs import Runs
from ingest.tables import PowerSamples, RunCards
from reports import (
    _energy_charts,
    _energy_listing,
    _energy_runs_listing,
    _energy_texts,
    _energy_words,
    _power_chart,
)
from reports._numbers import THIN, grouped, percent, significant
from reports._section import Content, Scope, Section
from reports._words import plural


def build(frames: Frames, scope: Scope) -> Content:
    """Return the energy of the runs, its coverage and its doubts."""
    rows = (
        scope.of_runs(frames[Energy], or_none=True)
        .sort("run_id", "cluster", "host", "gpu_uuid")
        .collect()
    )
    power = _power_chart.chart(frames, scope)
    checks = frames[EnergyChecks].collect()
    if rows.is_empty() and not power and checks.is_empty():
        return Content(
            heading="What the GPUs drew is not known.",
            empty="No power telemetry: point gpuledger ingest at nvidia-smi CSV or at"
            " dcgm-exporter text.",
        )
    if rows.is_empty() and not power:
        return _windows_only(checks)
    held = rows.drop_nulls("run_id")
    shown = held if held.height else rows
    measured = shown.drop_nulls("energy_j")
    runs = scope.of_runs(frames[EnergyRuns]).collect()
    cards = {row["run_id"]: row for row in frames[RunCards].collect().to_dicts()}
    told = [
        *_of_work(runs, cards),
        *_energy_texts.paragraphs(measured, shown, scope),
        *_outside(rows, held),
    ]
    if not power:
        told += _power_chart.why_not(frames, scope)
    return Content(
        heading=_heading(measured, shown),
        paragraphs=told,
        charts=[*_energy_charts.charts(measured, scope), *power],
        listings=[
            *_energy_runs_listing.runs(runs, cards, scope),
            *_energy_listing.listings(shown, scope),
            *_energy_runs_listing.checks(checks),
        ],
    )


#: What is said of windows that nothing was sampled beside.
_ALONE: Final = (
    "Windows may lie in each other, so that they are not added up. Samples of power"
    " (nvidia-smi CSV, dcgm-exporter text) of the same GPUs would give energy of runs,"
    " steps and tokens, and check these."
)


def _windows_only(checks: pl.DataFrame) -> Content:
    """Return what programs measured, where no sample of power was read."""
    windows = checks.filter(pl.col("level") == "gpu_board")
    gpus = windows.select("cluster", "host", "gpu_uuid").n_unique()
    said_of = f" of {plural(gpus, 'GPU')}" if gpus else ""
    return Content(
        heading=f"Programs measured the energy of {plural(checks.height, 'window')}"
        f"{said_of}; no power was sampled to hold it against.",
        paragraphs=[_ALONE],
        listings=_energy_runs_listing.checks(checks),
    )


def _of_work(runs: pl.DataFrame, cards: dict[str, dict[str, object]]) -> list[str]:
    """Return energy of steps and tokens and its carbon, of what GPUs drew."""
    whole = _energy_words.whole_runs(runs)
    gpus = whole.filter(pl.col("level") != _energy_words.SUPPLY)
    if gpus.is_empty():
        return []
    return [_energy_words.per_work(gpus), _energy_words.carbon(gpus, cards)]


def _outside(rows: pl.DataFrame, held: pl.DataFrame) -> list[str]:
    """Return what was drawn while no run held the GPUs, where some of it was."""
    free = rows.filter(pl.col("run_id").is_null())
    if held.is_empty() or free.is_empty():
        return []
    amount = _energy_words.joules(float(free["energy_j"].sum()))
    return [f"Outside runs they drew {amount} more."]


def _heading(measured: pl.DataFrame, rows: pl.DataFrame) -> str:
    if measured.is_empty():
        sampled = plural(rows.height, "GPU")
        return (
            f"{sampled} sampled, and no energy could be measured{_single(rows, ': ')}."
        )
    amount = _energy_words.joules(float(measured["energy_j"].sum()))
    peak = measured["peak_w"].drop_nulls()
    top = (
        f", with a highest reading of {significant(float(str(peak.max())))}{THIN}W"
        if len(peak)
        else ""
    )
    gpus = rows.select("cluster", "host", "gpu_uuid").n_unique()
    drew = f"{_of(measured, gpus)} drew {amount}{top}"
    return f"{drew}; {_covered(rows)}{_single(rows, ', and ')}."


def _of(measured: pl.DataFrame, gpus: int) -> str:
    drew = measured.select("cluster", "host", "gpu_uuid").n_unique()
    few = f"{grouped(drew)} of " if drew < gpus else ""
    return f"{few}{plural(gpus, 'GPU')}"


def _covered(rows: pl.DataFrame) -> str:
    """Return which share was measured: of the time, unless windows have no length."""
    length = (rows["to_ns"] - rows["from_ns"]).cast(pl.Float64)
    if (length > 0).all():
        ratio = float((length * rows["coverage_ratio"]).sum()) / float(length.sum())
        return f"{percent(ratio)} of their time was measured"
    ratio = float(rows["coverage_ratio"].sum()) / rows.height
    return f"{percent(ratio)} of a window was measured on average"


def _single(rows: pl.DataFrame, before: str) -> str:
    """Return how many GPUs have a single sample, from which no energy follows."""
    alone = rows.filter(pl.col("samples_count") == 1)
    count = alone.select("cluster", "host", "gpu_uuid").n_unique()
    if not count:
        return ""
    return (
        f"{before}{plural(count, 'GPU')} {'has' if count == 1 else 'have'} one sample"
    )


SECTION: Final = Section(
    "energy",
    "Power and energy",
    (
        *(Energy, EnergyRuns, EnergyChecks, PowerSamples, PowerDays, FleetPower),
        *(Runs, RunCards, LostTime),
    ),
    build,
)
