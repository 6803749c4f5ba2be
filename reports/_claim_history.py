"""What else was seen on the node of an incident."""

from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.incidents import Incidents
from analysis.lemon_nodes import LemonNodes
from reports import _code_words
from reports._claim_facts import Facts
from reports._claim_parts import NOT_KNOWN, Part, second
from reports._numbers import significant
from reports._runs import MOST_ROWS
from reports._section import Column, Listing
from reports._words import name, plural, said

_COLUMNS: Final = (
    Column("Incident"),
    Column("First sign"),
    Column("Code"),
    Column("Meaning"),
    Column("GPU"),
    Column("Severity"),
)

_TITLE: Final = "Seen before and since"


def part(facts: Facts, frames: Frames) -> Part:
    """Return the other incidents of the node, the latest first."""
    host, cluster = facts.incident["host"], facts.incident["cluster"]
    if host is None:
        told = "Several nodes tell of it" if facts.hosts else "No source names a node"
        heading = f"{told}: there is no history of one node."
        return Part(name="history", title=_TITLE, heading=heading)
    ours = (pl.col("host") == host) & (pl.col("cluster") == cluster)
    others = (
        frames[Incidents]
        .filter(ours & (pl.col("incident_id") != facts.incident["incident_id"]))
        .sort(["first_ns", "incident_id"], descending=[True, False], nulls_last=True)
        .collect()
    )
    counted = others.filter(pl.col("severity").ne_missing("info"))
    return Part(
        name="history",
        title=_TITLE,
        heading=_heading(facts, counted, host),
        listings=_listing(counted),
        paragraphs=[
            *_against_others(frames, host, cluster),
            *_corrected(others.height - counted.height),
        ],
    )


def _heading(facts: Facts, others: pl.DataFrame, host: str) -> str:
    if others.is_empty():
        return f"Nothing else was seen on node {name(host)}."
    code, gpu = facts.incident["root_code"], facts.incident["gpu_key"]
    alike = others.filter(
        (pl.col("root_source") == facts.incident["root_source"])
        & (pl.col("root_code") == code)
    ).height
    same = others.filter(pl.col("gpu_key") == gpu).height if gpu else 0
    return (
        f"{plural(others.height, 'more incident')} on node {name(host)}:"
        f" {same} of the same GPU, {alike} of the same code."
    )


def _against_others(frames: Frames, host: str, cluster: str) -> list[str]:
    """Return how often the node failed against the rate of all others."""
    ours = (pl.col("host") == host) & (pl.col("cluster") == cluster)
    rows = frames[LemonNodes].filter(ours).collect().to_dicts()
    if not rows or rows[0]["expected"] is None or rows[0]["p_value"] is None:
        return []
    row = rows[0]
    verdict = (
        "more often than chance explains"
        if row["is_lemon"]
        else "no more often than chance explains"
    )
    return [
        (
            f"It failed {plural(row['failures'], 'time')} while runs held it, where the"
            f" rate of the cluster's other nodes lets expect"
            f" {significant(row['expected'], 2)}: {verdict}"
            f" (p = {significant(row['p_value'], 2)}, the limit"
            f" {significant(row['threshold_p_value'] or 0.0, 2)})."
        )
    ]


def _corrected(count: int) -> list[str]:
    if not count:
        return []
    return [f"{plural(count, 'notice')} of no consequence not counted."]


def _listing(others: pl.DataFrame) -> list[Listing]:
    if others.is_empty():
        return []
    more = others.height - MOST_ROWS
    return [
        Listing(
            title="On the same node, the latest first",
            columns=_COLUMNS,
            rows=[_row(row) for row in others.head(MOST_ROWS).to_dicts()],
            more=plural(more, "more incident") if more > 0 else "",
        )
    ]


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    first = row["first_ns"]
    return (
        str(row["incident_id"]),
        NOT_KNOWN if first is None else second(first),
        _code_words.code(row["root_source"], row["root_code"], row["name"]),
        name(row["name"] or NOT_KNOWN, 90),
        name(row["gpu_key"] or NOT_KNOWN),
        said(row["severity"] or NOT_KNOWN),
    )
