"""What the GPUs drew, how much of it was measured, and how well."""

from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.energy import Energy
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.tables import PowerSamples
from reports import _energy_charts, _energy_listing, _power_chart
from reports._numbers import THIN, compact, grouped, percent, significant
from reports._section import Content, Scope, Section
from reports._words import listed, plural, said
from reports.dollars import J_PER_KWH, energy_dollars, in_words

#: Units of energy below a kilowatt-hour. [J]
_BELOW_KWH: Final = ((1e6, "MJ"), (1e3, "kJ"), (0.0, "J"))

#: Below this the energy of a window is a lower bound rather than a measurement.
_COVERED_FROM: Final = 0.95


def build(frames: Frames, scope: Scope) -> Content:
    """Return the energy of the runs, its coverage and its doubts."""
    rows = (
        scope.of_runs(frames[Energy], or_none=True)
        .sort("run_id", "cluster", "host", "gpu_uuid")
        .collect()
    )
    power = _power_chart.chart(frames, scope)
    if rows.is_empty() and not power:
        return Content(
            heading="What the GPUs drew is not known.",
            empty="No power telemetry: point gpuledger ingest at nvidia-smi CSV or at"
            " dcgm-exporter text.",
        )
    held = rows.drop_nulls("run_id")
    shown = held if held.height else rows
    measured = shown.drop_nulls("energy_j")
    told = [*_paragraphs(measured, shown, scope), *_outside(rows, held)]
    if not power:
        told += _power_chart.why_not(frames, scope)
    return Content(
        heading=_heading(measured, shown),
        paragraphs=told,
        charts=[*_energy_charts.charts(measured, scope), *power],
        listings=_energy_listing.listings(shown, scope),
    )


def _outside(rows: pl.DataFrame, held: pl.DataFrame) -> list[str]:
    """Return what was drawn while no run held the GPUs, where some of it was."""
    free = rows.filter(pl.col("run_id").is_null())
    if held.is_empty() or free.is_empty():
        return []
    return [f"Outside runs they drew {_amount(float(free['energy_j'].sum()))} more."]


def _amount(energy_j: float) -> str:
    kwh = energy_j / J_PER_KWH
    if kwh >= 1:
        return f"{compact(kwh)}{THIN}kWh"
    size = next(step for step in _BELOW_KWH if energy_j >= step[0])
    return f"{significant(energy_j / (size[0] or 1))}{THIN}{size[1]}"


def _heading(measured: pl.DataFrame, rows: pl.DataFrame) -> str:
    if measured.is_empty():
        sampled = plural(rows.height, "GPU")
        return (
            f"{sampled} sampled, and no energy could be measured{_single(rows, ': ')}."
        )
    amount = _amount(float(measured["energy_j"].sum()))
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


def _paragraphs(measured: pl.DataFrame, rows: pl.DataFrame, scope: Scope) -> list[str]:
    told = [_cost(measured, scope), _methods(measured), _peaks(measured), _doubts(rows)]
    return [text for text in told if text]


def _cost(measured: pl.DataFrame, scope: Scope) -> str:
    costs = [
        energy_dollars(float(energy), scope.price(run_id or ""))
        for run_id, energy in measured.select("run_id", "energy_j").iter_rows()
    ]
    priced = [cost for cost in costs if cost is not None]
    if not priced:
        return _unpriced(measured, scope)
    few = len(priced) < len(costs)
    of_all = f" ({len(priced)} of {len(costs)} windows)" if few else ""
    return f"Electricity of owned GPUs: {in_words(sum(priced, Decimal()))}{of_all}."


def _unpriced(measured: pl.DataFrame, scope: Scope) -> str:
    modes = {scope.price(run_id or "").mode for run_id in measured["run_id"]}
    if "owned" in modes:
        return "Electricity of owned GPUs has no price: usd_per_kwh on the run card."
    if modes:
        return "Rent already contains electricity: energy has no price of its own here."
    return ""


def _methods(measured: pl.DataFrame) -> str:
    counts = measured["method"].value_counts().sort("method")
    used = [
        f"{said(method)} for {plural(n, 'window')}" for method, n in counts.iter_rows()
    ]
    return (
        f"Measured by {listed(used)}; nothing is assumed across gaps." if used else ""
    )


def _peaks(measured: pl.DataFrame) -> str:
    if measured["peak_w"].drop_nulls().is_empty():
        return ""
    return (
        "Peaks are the greatest of instant and averaged readings; means are energy over"
        " time, so that the two may be of different readings."
    )


def _doubts(rows: pl.DataFrame) -> str:
    doubts = rows["quality"].drop_nulls().str.split(",").explode().str.strip_chars()
    counts = (
        doubts.filter(doubts != "")
        .value_counts(name="n")
        .sort(["n", "quality"], descending=[True, False])
    )
    reasons = [f"{said(reason)[:60]} ({n})" for reason, n in counts.iter_rows()]
    low = rows.filter(pl.col("coverage_ratio") < _COVERED_FROM).height
    less = (
        f" {plural(low, 'window')} below {percent(_COVERED_FROM)} coverage: energy is a"
        " lower bound there."
        if low
        else ""
    )
    return f"Doubts: {listed(reasons, 5)}.{less}" if reasons else less.strip()


SECTION: Final = Section(
    "energy", "Power and energy", (Energy, PowerSamples, Runs, LostTime), build
)
