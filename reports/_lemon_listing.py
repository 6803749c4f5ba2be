"""Nodes that failed, the least likely by chance first."""

from typing import Final

import polars as pl

from reports import _sql
from reports._numbers import duration, grouped, significant
from reports._partly import partly
from reports._rate_shown import Row, chance
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words

_SQL: Final = """\
SELECT cluster, host, failures, expected, p_value, threshold_p_value, is_lemon,
       equal_nodes_p_value, exposure_ns, interruptions, lost_gpu_ns,
       unknown_interruptions, causes, gpu_keys, serials
FROM lemon_nodes
${where}ORDER BY p_value NULLS LAST, failures DESC, cluster, host"""

_COLUMNS: Final = (
    Column("Node"),
    Column("Failures", "Incidents on it alone, while it was held.", is_number=True),
    Column(
        "Expected",
        "Failures of all other nodes over their time, times its own.",
        is_number=True,
    ),
    Column("By chance", "That a node of this fleet fails so often.", is_number=True),
    Column("Lemon"),
    Column("Interruptions", "Those that are laid to it.", is_number=True),
    Column("Cost", "All phases of them, in dollars.", is_number=True),
    Column("What", "Codes, and the GPUs that they name."),
    Column("Who acts"),
)


def listing(nodes: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the ten nodes whose failures are least likely by chance.

    Args:
        nodes: Rows of LemonNodes, in order.
        scope: Prices of the page.
    """
    if nodes.is_empty():
        return []
    shown = nodes.head(MOST_ROWS)
    more = nodes.height - shown.height
    return [
        Listing(
            title="Nodes that failed, the least likely by chance first",
            columns=_COLUMNS,
            rows=[_row(row, scope) for row in shown.to_dicts()],
            more=plural(more, "more node") if more else "",
            sql=_sql.filled(_SQL, where=where(nodes)),
        )
    ]


def where(nodes: pl.DataFrame) -> str:
    """Return the condition for the clusters of nodes in SQL."""
    names = nodes["cluster"].unique().sort().to_list()
    listed = ", ".join(_sql.literal(one) for one in names)
    return _sql.where(f"cluster IN ({listed})")


def cost(row: Row, scope: Scope) -> str:
    """Return what the interruptions of a node cost, as far as it is known."""
    if row["lost_gpu_ns"] is None:
        return "not known"
    lost = int(row["lost_gpu_ns"])
    words = in_words(dollars(lost, scope.price(row["run_id"] or "")))
    return partly(words, has_known=True, is_whole=not row["unknown_interruptions"])


def _row(row: Row, scope: Scope) -> tuple[str, ...]:
    expected = row["expected"]
    return (
        name(row["host"], 30),
        f"{grouped(row['failures'])} in {duration(float(row['exposure_ns']))}",
        "\N{EN DASH}" if expected is None else significant(expected, 2),
        chance(row["p_value"]),
        "yes" if row["is_lemon"] else "no" if row["p_value"] is not None else "?",
        grouped(row["interruptions"]),
        cost(row, scope),
        _what(row),
        "provider: drain, test, swap" if row["is_lemon"] else "\N{EN DASH}",
    )


def _what(row: Row) -> str:
    codes = (row["causes"] or "").replace("operator ", "").replace("_", " ")
    parts = [codes, row["gpu_keys"]]
    if row["serials"]:
        parts.append(f"serials {row['serials']}")
    return "; ".join(name(part, 60) for part in parts if part)
