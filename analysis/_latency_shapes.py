"""Models of every shape of group that was measured, each built once."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis.collective_models import KINDS, MODELS, Layout, Link, Model

#: Columns that a model depends on.
SHAPE: Final = ("kind", "ranks", "nodes", "inside_told_gbs", "between_told_gbs")

#: Stands for a bandwidth that nobody told: only ratios are used then. [GB/s]
_UNTOLD: Final = 1.0

_COLUMNS: Final = {
    "model": pl.String,
    "rounds": pl.Int64,
    "inside_ratio": pl.Float64,
    "between_ratio": pl.Float64,
    "fixed_ns": pl.Float64,
    "ns_per_byte": pl.Float64,
    "missing": pl.String,
}


def shapes(
    series: pl.DataFrame, inside_ns: float, between_ns: float, base_ns: float
) -> pl.DataFrame:
    """Return each shape among the series with every model.

    Args:
        series: Rows with the columns of SHAPE.
        inside_ns: Time of a round inside a node. [ns]
        between_ns: Time of a round between nodes. [ns]
        base_ns: Time of a collective before its first round. [ns]

    Returns:
        SHAPE, `model`, `rounds`, what passes a GPU's port inside and between nodes for
        a byte of the message (`inside_ratio`, `between_ratio`), the line `fixed_ns`
        and `ns_per_byte` where links are told, and what is `missing`.
    """
    found = series.select(SHAPE).unique().sort(SHAPE)
    rows = [
        shape | row
        for shape in found.iter_rows(named=True)
        for row in _rows(shape, (inside_ns, between_ns, base_ns))
    ]
    return pl.DataFrame(rows, schema={**found.schema, **_COLUMNS})


def _rows(
    shape: dict[str, object], times: tuple[float, float, float]
) -> Iterator[dict[str, object]]:
    """Yield the models of one shape."""
    kind, ranks, nodes = shape["kind"], shape["ranks"], shape["nodes"]
    for name, build in MODELS.items():
        empty = dict.fromkeys(_COLUMNS) | {"model": name}
        if kind not in KINDS:
            yield empty | {"missing": "no model of this kind"}
        elif not isinstance(ranks, int) or ranks < 2:  # noqa: PLR2004 - a pair
            yield empty | {"missing": "the number of ranks is not known"}
        elif nodes is None and name == "hierarchical":
            yield empty | {"missing": "the nodes of the ranks are not known"}
        elif isinstance(nodes, int) and ranks % nodes:
            yield empty | {"missing": "nodes hold unequal shares of the ranks"}
        else:
            links = _links(shape, times)
            layout = Layout(ranks, nodes if isinstance(nodes, int) else ranks, *links)
            yield empty | _facts(build(layout, str(kind)), shape, times[2])


def _links(
    shape: dict[str, object], times: tuple[float, float, float]
) -> tuple[Link, Link]:
    told = [shape["inside_told_gbs"], shape["between_told_gbs"]]
    rates = [rate if isinstance(rate, float) else _UNTOLD for rate in told]
    return Link(times[0], rates[0]), Link(times[1], rates[1])


def _facts(model: Model, shape: dict[str, object], base_ns: float) -> dict[str, object]:
    """Return a model's numbers; predictions only of links that are told."""
    near, far = model.legs
    has_nodes = shape["nodes"] is not None
    used = [
        shape[f"{name}_told_gbs"]
        for name, leg in (("inside", near), ("between", far))
        if leg.wire_ratio
    ]
    is_told = has_nodes and None not in used
    return {
        "rounds": model.rounds,
        "inside_ratio": near.wire_ratio if has_nodes else None,
        "between_ratio": far.wire_ratio,
        "fixed_ns": base_ns + model.fixed_ns if has_nodes else None,
        "ns_per_byte": model.ns_per_byte if is_told else None,
        "missing": None if is_told else _missing(has_nodes=has_nodes),
    }


def _missing(*, has_nodes: bool) -> str:
    if has_nodes:
        return "the bandwidth of a link that it uses is not on the run card"
    return "the nodes of the ranks are not known: one kind of link is taken for all"
