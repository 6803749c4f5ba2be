"""Rates by model of GPU, in a sentence."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from reports._rate_shown import WHOLE, Row, rate
from reports._words import listed, name, plural

#: What is said of each level, the one that says most of GPUs first.
_LEVELS: Final = {"incident": "incidents", "interruption": "interruptions"}


def sentences(frames: Frames, row: Row) -> list[str]:
    """Return the rates of each model; nothing where a cluster has one alone.

    Args:
        frames: The tables.
        row: The rate that the page leads with.
    """
    rows = frames[InterruptRates].filter(
        WHOLE, (pl.col("scope") == "gpu_model") & (pl.col("cluster") == row["cluster"])
    )
    found = rows.sort("scope_id").collect()
    return [
        f"By model of GPU, {words} per 1000 node-days: {listed(told, 6)}."
        for level, words in _LEVELS.items()
        if len(told := [_model(one) for one in found.filter(level=level).to_dicts()])
        > 1
    ]


def _model(one: Row) -> str:
    if one["count"] >= FEW_EVENTS and one["per_1000_node_days"] is not None:
        return f"{name(one['scope_id'], 30)} {rate(one)}"
    return f"{name(one['scope_id'], 30)} {plural(one['count'], 'event')}"
