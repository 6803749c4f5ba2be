"""How much of its time a run made progress, by each definition in use."""

from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.goodput import Goodput
from analysis.goodput_days import GoodputDays
from reports import _goodput_chart, _goodput_listing, _goodput_trend
from reports._numbers import grouped, percent
from reports._section import Content, Scope, Section
from reports._words import name, plural

_HINT: Final = (
    "A step log, and a job list (sacct) for the time around the steps, tell: point"
    " gpuledger run at both."
)

_WHY: Final = {
    "no steps": "no step of it is known, and jobs alone do not tell work from waiting",
    "traces are samples": "traces are samples, and say nothing of the time between",
    "mostly unattributed": "no evidence tells of most of its time",
}


def build(frames: Frames, scope: Scope) -> Content:
    """Return the shares of useful time and their trend."""
    rows = (
        scope.of_runs(frames[Goodput])
        .collect()
        .sort(["paid_gpu_ns", "run_id"], descending=[True, False])
    )
    if rows.is_empty():
        return Content(
            heading="How much of its time a run made progress is not known.",
            empty=_HINT,
        )
    known = rows.filter(pl.col("ettr_ratio").is_not_null())
    if known.is_empty():
        return Content(
            heading="How much of its time a run made progress is not known:"
            f" {_WHY[rows['unknown_reason'][0]]}.",
            paragraphs=[_HINT],
            listings=[_goodput_listing.runs(rows)],
        )
    main = known.row(0, named=True)
    first = _goodput_chart.chart(main)
    return Content(
        heading=_heading(main, rows.height),
        paragraphs=[
            text for text in (_steps(main), _caution(main), _mfu(main)) if text
        ],
        charts=[
            *([first] if first else []),
            *_goodput_trend.charts(frames, scope),
        ],
        listings=[
            _goodput_listing.definitions(main),
            *([_goodput_listing.runs(rows)] if rows.height > 1 else []),
        ],
    )


def _heading(row: dict[str, Any], runs: int) -> str:
    who = f"{name(row['run_id'], 40)}: " if runs > 1 else ""
    return (
        f"{who}{percent(row['ettr_ratio'])} of the clock time with queues went into"
        f" steps that counted (ETTR), and {percent(row['training_ratio'])} of what was"
        " paid for."
    )


def _steps(row: dict[str, Any]) -> str:
    if row["steps_kept"] is None:
        return ""
    stops = plural(row["interruptions_count"], "unplanned stop")
    return (
        f"{plural(row['steps_kept'], 'step')} counted and"
        f" {grouped(row['steps_repeated'])} had to be done again, over {stops} and"
        f" {grouped(row['planned_count'])} planned."
    )


def _caution(row: dict[str, Any]) -> str:
    silent = float(row["unattributed_gpu_ns"]) / float(row["paid_gpu_ns"])
    told = []
    if row["is_upper_bound"]:
        told.append(
            "Steps are known by their duration alone, so that goodput is an upper bound"
        )
    if silent > 0:
        told.append(
            f"{percent(silent)} of the paid time has no evidence, and no share counts"
            " it as useful"
        )
    return f"{'; '.join(told)}." if told else ""


def _mfu(row: dict[str, Any]) -> str:
    if row["mfu_ratio"] is not None:
        return (
            f"MFU is {percent(row['mfu_ratio'])} while steps ran that counted, and"
            f" {percent(row['paid_mfu_ratio'])} of all that was paid for. It has a"
            " denominator of its own: it is not multiplied with any share of time."
        )
    wanted = {
        "no parameters": "active_parameters under [training] of the run card",
        "no tokens": "tokens_per_step under [training] of the run card",
        "no peak": "peak_tflops under [hardware] of the run card",
    }
    reason = row["mfu_reason"]
    mend = f": {wanted[reason]} would tell" if reason in wanted else ""
    return f"MFU is not known, {reason}{mend}."


SECTION: Final = Section("goodput", "Goodput", (Goodput, GoodputDays), build)
