"""Fixed part, bandwidth and tail of each series; algorithms on paper beside them."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from reports import _sql
from reports._latency_shown import (
    DASH,
    ORDER,
    SERIES,
    SHOWN,
    bandwidth,
    fixed_part,
    labels,
    message,
)
from reports._numbers import THIN, duration, grouped, significant
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import plural, said

_SQL: Final = """\
SELECT * FROM latency_anatomy
${where}ORDER BY $order"""

_MODELS_SQL: Final = """\
SELECT * FROM latency_models
${where}ORDER BY run_id, source, scope, group_id, kind, ranks, in_place, model"""


def listings(series: pl.DataFrame, models: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the table of series, and that of models where a series has a line.

    Args:
        series: Series that are shown, in their order.
        models: Rows of LatencyModels.
        scope: Runs of the page.
    """
    return [_anatomy(series, scope), *_models(series, models, scope)]


def _anatomy(series: pl.DataFrame, scope: Scope) -> Listing:
    top = series.head(MOST_ROWS)
    rest = series.height - top.height
    return Listing(
        title="What transfers take",
        columns=(
            Column("transfers"),
            Column("fixed part", is_number=True),
            Column("busbw of an endless message", is_number=True),
            Column("median", is_number=True),
            Column("tail (p99 less median)", is_number=True),
            Column("what is missing"),
        ),
        rows=[
            (name, fixed_part(row), bandwidth(row), _median(row), _tail(row), _why(row))
            for name, row in zip(labels(top), top.iter_rows(named=True), strict=True)
        ],
        more=f"{plural(rest, 'more series', 'more series')}" if rest else "",
        sql=_sql.filled(_SQL, where=_sql.where(*SHOWN, scope.sql()), order=ORDER),
    )


def _median(row: Mapping[str, Any]) -> str:
    if row["p50_ns"] is None:
        return DASH
    at = (
        f" at {message(row['typical_bytes'])}"
        if row["typical_bytes"] is not None
        else ""
    )
    return f"{duration(row['p50_ns'])}{at}"


def _tail(row: Mapping[str, Any]) -> str:
    if row["tail_ns"] is None:
        return DASH
    return duration(row["tail_ns"])


def _why(row: Mapping[str, Any]) -> str:
    """Return why there is no line; bounds of one side are in their cells."""
    return row["reason"] or "" if row["beta_gbs"] is None else ""


def _models(series: pl.DataFrame, models: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the models of the first series that has a line."""
    top = series.drop_nulls("beta_gbs").head(1)
    keys = top.select(SERIES)
    rows = keys.join(models, on=list(SERIES), nulls_equal=True, maintain_order="left")
    if rows.is_empty():
        return []
    whose = labels(top)[0]
    return [
        Listing(
            title=f"Algorithms on paper beside {whose}: a comparison, no claim",
            columns=(
                Column("algorithm"),
                Column("rounds", is_number=True),
                Column("a round would take", is_number=True),
                Column("a GPU would send", is_number=True),
                Column("medians off by", is_number=True),
                Column("what speaks for or against it"),
            ),
            rows=[_model(row) for row in rows.iter_rows(named=True)],
            sql=_sql.filled(_MODELS_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _model(row: Mapping[str, Any]) -> tuple[str, ...]:
    rounds, misfit = row["rounds"], row["misfit_ratio"]
    return (
        said(row["model"]),
        DASH if rounds is None else grouped(rounds),
        DASH if row["round_ns"] is None else duration(row["round_ns"]),
        _sent(row),
        DASH if misfit is None else f"{significant(100 * misfit)}{THIN}%",
        _verdict(row),
    )


def _sent(row: Mapping[str, Any]) -> str:
    """Return what a GPU must send in each link for the measured bandwidth."""
    near, far = row["inside_gbs"], row["between_gbs"]
    if far is None:
        return DASH
    if near is None:
        return f"{significant(far)}{THIN}GB/s"
    told = [(near, "inside")] if near else []
    told += [(far, "between nodes")] if far else []
    return ", ".join(f"{significant(rate)}{THIN}GB/s {where}" for rate, where in told)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["is_possible"] is False:
        return "a link of the run card is too slow for it"
    if row["is_closest"]:
        return "closest to the medians"
    return row["reason"] or ""
