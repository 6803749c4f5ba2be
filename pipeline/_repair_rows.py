"""Rows of what-if answers: priced for machines, and in words for people."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import polars as pl

from reports._numbers import THIN, compact, duration
from reports.dollars import CENT, Price, dollars, in_words, price_of

#: Columns of an answer, in order.
_FIRST: Final = ("run_id", "repair", "method", "scope", "ranks", "steps", "ranks_held")
_LAST: Final = (
    *("slowdown_ratio", "fidelity_ratio", "is_joint", "is_bound", "is_reliable"),
    *("is_beyond_noise", "doubt", "assumption", "left_out_count"),
)

_NS_PER_S: Final = 10**9
_S_PER_HOUR: Final = 3600

#: GPU time from which hours are easier to read than seconds. [s]
_HOURS_FROM_S: Final = 2 * _S_PER_HOUR

_DASH: Final = "-"


def priced(rows: pl.DataFrame, prices: Mapping[str, Price]) -> pl.DataFrame:
    """Return answers with the length of a step, and dollars.

    Args:
        rows: Rows of WhatIf.
        prices: Price of each run, and the fallback under no name.
    """
    saved = pl.col("simulated_ns") - pl.col("repaired_ns")
    amounts = {
        f"{name}_usd": _usd(rows, f"{name}_gpu_ns", prices)
        for name in ("saved", "saved_low", "saved_high")
    }
    rates = [price_of(prices, run).usd_per_gpu_hour for run in rows["run_id"]]
    amounts["usd_per_gpu_hour"] = [float(rate) for rate in rates]
    added = [pl.Series(name, found, pl.Float64) for name, found in amounts.items()]
    return rows.with_columns(added).select(
        *_FIRST,
        step_actual_ns=pl.col("actual_ns") / pl.col("steps"),
        step_repaired_ns=(pl.col("actual_ns") - saved) / pl.col("steps"),
        saved_step_ns="saved_step_ns",
        saved_ns=saved,
        saved_gpu_ns="saved_gpu_ns",
        saved_low_gpu_ns="saved_low_gpu_ns",
        saved_high_gpu_ns="saved_high_gpu_ns",
        usd_per_gpu_hour="usd_per_gpu_hour",
        saved_usd="saved_usd",
        saved_low_usd="saved_low_usd",
        saved_high_usd="saved_high_usd",
        **{name: pl.col(name) for name in _LAST},
    )


def _usd(
    rows: pl.DataFrame, column: str, prices: Mapping[str, Price]
) -> list[float | None]:
    return [
        None if gpu_ns is None else float(dollars(int(gpu_ns), price_of(prices, run)))
        for run, gpu_ns in rows.select("run_id", column).iter_rows()
    ]


def text_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return priced answers in words: a line for each.

    Args:
        rows: What `priced` returns.
    """
    several = rows["run_id"].n_unique() > 1
    lines = [_line(row, several=several) for row in rows.to_dicts()]
    return pl.DataFrame(lines, schema=dict.fromkeys(lines[0], pl.String))


def _line(row: Mapping[str, Any], *, several: bool) -> dict[str, str]:
    run = {"run": str(row["run_id"])} if several else {}
    return run | {
        "repair": str(row["repair"]),
        "method": str(row["method"]),
        "steps": str(row["steps"]),
        "step now": _time(row["step_actual_ns"]),
        "repaired": _time(row["step_repaired_ns"]),
        "saves a step": _time(row["saved_step_ns"]),
        "saves in all": _time(row["saved_ns"]),
        "GPU time": _gpu_time(row["saved_gpu_ns"]),
        "saves": _usd_text(row["saved_usd"]),
        "95 % interval": _interval(row),
        "reliable": _trust(row),
    }


def _time(ns: float | None) -> str:
    return _DASH if ns is None else _plain(duration(float(ns)))


def _gpu_time(gpu_ns: Decimal | None) -> str:
    if gpu_ns is None:
        return _DASH
    seconds = gpu_ns / _NS_PER_S
    if abs(seconds) < _HOURS_FROM_S:
        return _plain(f"{compact(seconds)} GPU-s")
    return _plain(f"{compact(seconds / _S_PER_HOUR)} GPU-h")


def _usd_text(usd: float | None) -> str:
    if usd is None:
        return _DASH
    amount = Decimal(str(usd))
    if -CENT < amount < 0:
        return f"> -{CENT} USD"
    return _plain(in_words(amount))


def _interval(row: Mapping[str, Any]) -> str:
    low, high = row["saved_low_usd"], row["saved_high_usd"]
    if low is None or high is None:
        return _DASH
    ends = (compact(Decimal(f"{end:f}")) for end in (low, high))
    return _plain(" to ".join(ends))


def _trust(row: Mapping[str, Any]) -> str:
    if not row["is_reliable"] or row["doubt"]:
        return f"no: {row['doubt'] or 'not known'}"
    if row["scope"] == "everything":
        return "yes, but a single repair can save more"
    return "as an upper bound" if row["is_bound"] else "yes"


def _plain(text: str) -> str:
    """Return a text for terminals, whose fonts may lack thin spaces."""
    return text.replace(THIN, " ")
