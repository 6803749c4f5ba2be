"""What happened, where, when, and by which clock."""

from typing import Final

import polars as pl

from analysis._failure_roles import OPERATOR
from ingest.xids import CATALOGUE, UNKNOWN_NAME
from reports import _code_words
from reports._claim_facts import Facts
from reports._claim_parts import NOT_KNOWN, Part, instant
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import Column, Listing
from reports._words import listed, name, plural, said

#: How a time is known, in words.
_QUALITIES: Final = {
    "exact": "date, time and zone stand in the source",
    "zone_assumed": "the source names no zone; it was taken to be {zone}",
    "year_inferred": "the source names no year; it was taken from the file's date",
    "boot_relative": "counted from the start of the node",
    "unknown": "the source gives no time",
}

#: Codes from which on a table says what each means.
_FEWEST_CODES: Final = 2

_COLUMNS: Final = (
    Column("Code"),
    Column("Meaning"),
    Column("Severity"),
    Column("Action by catalogue"),
    Column("Lines", is_number=True),
)


def part(facts: Facts) -> Part:
    """Return what happened and where, as facts in two columns."""
    incident, gpu = facts.incident, facts.gpu
    rank = "" if gpu["rank"] is None else str(gpu["rank"])
    return Part(
        name="what",
        title="What, where and when",
        heading=_heading(facts),
        paragraphs=_clock(facts),
        listings=_codes(facts),
        facts=[
            ("Incident", name(incident["incident_id"])),
            ("Cause", facts.told),
            ("Severity", said(incident["severity"] or NOT_KNOWN)),
            ("Kind of cause", said(incident["category"] or NOT_KNOWN)),
            ("Component", said(incident["component"] or NOT_KNOWN)),
            ("First sign", instant(incident["first_ns"])),
            ("Last sign", instant(incident["last_ns"])),
            ("Times", "; ".join(_qualities(facts))),
            ("Cluster", name(incident["cluster"])),
            ("Node", ", ".join(name(host) for host in facts.hosts) or NOT_KNOWN),
            ("GPU UUID", name(gpu["uuid"] or NOT_KNOWN)),
            ("GPU serial", name(gpu["serial"] or NOT_KNOWN)),
            ("PCI address", name(gpu["pci"] or NOT_KNOWN)),
            ("Rank in the run", rank or NOT_KNOWN),
            ("Action by catalogue", _action(facts)),
            ("Catalogue", _catalogue(facts)),
        ],
    )


def _heading(facts: Facts) -> str:
    told = int(facts.root["line_count"].sum())
    others = facts.incident["lines"] - told
    more = f" and {plural(int(others), 'line')} of what followed" if others > 0 else ""
    if facts.incident["root_source"] == OPERATOR:
        rows = "row of the operator's list", "rows of the operator's list"
        return f"{plural(told, *rows)}{more}: {facts.told}."
    return f"{plural(told, 'line')} of {facts.code}{more}."


def _clock(facts: Facts) -> list[str]:
    """Say by which clock the times are, once for each that told of it."""
    timed = facts.lines.filter(pl.col("time_ns").is_not_null())
    clocks = sorted({_code_words.clock(one) for one in timed["source"].unique()})
    if not clocks:
        return []
    off = "" if facts.is_written_down else " How far it was off is not told."
    return [f"The clock is {listed(clocks)}.{off}"]


def _codes(facts: Facts) -> list[Listing]:
    """Say what each code means, where there is more than one."""
    alike = ["source", "code", "name", "severity", "action"]
    times = pl.col("time_ns").min().alias("first_ns")
    rows = facts.lines.group_by(alike).agg(times, pl.col("line_count").sum())
    order = [*("first_ns", "source", "code"), "name", "severity", "action"]
    shown = rows.sort(order, nulls_last=True).head(MOST_ROWS)
    if rows.height < _FEWEST_CODES:
        return []
    return [
        Listing(
            title="What each code means, in the order in which they came",
            columns=_COLUMNS,
            rows=[
                (
                    _code_words.code(row["source"], row["code"], row["name"]),
                    name(row["name"] or NOT_KNOWN, 120),
                    said(row["severity"] or NOT_KNOWN),
                    said(row["action"] or NOT_KNOWN),
                    grouped(row["line_count"]),
                )
                for row in shown.to_dicts()
            ],
            more=plural(rows.height - shown.height, "more code")
            if rows.height > shown.height
            else "",
        )
    ]


def _qualities(facts: Facts) -> list[str]:
    zones = dict(facts.files.select("file_id", "zone").iter_rows())
    pairs = facts.lines.select("time_quality", "file_id").unique()
    texts = [
        _QUALITIES[quality].format(zone=name(zones.get(file_id)))
        for quality, file_id in pairs.sort(pairs.columns).iter_rows()
    ]
    return list(dict.fromkeys(texts)) or [NOT_KNOWN]


def _action(facts: Facts) -> str:
    """Return what to do by the root code, else by the codes that came with it."""
    if facts.incident["action"]:
        return said(facts.incident["action"])
    told = facts.lines.drop_nulls("action").filter(
        ~pl.col("action").is_in(["none", "follow_other_code"])
    )
    rows = told.sort("time_ns", "code", nulls_last=True).select(
        "action", "source", "code", "name"
    )
    texts = [
        f"{said(action)} ({_code_words.code(*code)})"
        for action, *code in rows.unique(maintain_order=True).iter_rows()
    ]
    return listed(texts) or "the catalogue does not say"


def _catalogue(facts: Facts) -> str:
    """Return the catalogue that the meanings are from."""
    xids = facts.lines.filter(pl.col("source") == "xid")
    used = name(facts.incident["catalogue"] or CATALOGUE)
    if xids.is_empty():
        return "none: cause and meaning are those of the source that told of it"
    if facts.incident["name"] == UNKNOWN_NAME:
        return f"the code is not in Xid catalogue {used}"
    return f"Xid catalogue {used}"
