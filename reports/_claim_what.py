"""What happened, where, when, and by which clock."""

from typing import Final

from ingest.xids import CATALOGUE, UNKNOWN_NAME
from reports._claim_facts import Facts
from reports._claim_parts import NOT_KNOWN, Part, instant
from reports._words import name, plural, said

#: How a time is known, in words.
_QUALITIES: Final = {
    "exact": "date, time and zone stand in the source",
    "zone_assumed": "the source names no zone; it was taken to be {zone}",
    "year_inferred": "the source names no year; it was taken from the file's date",
    "boot_relative": "counted from the start of the node",
    "unknown": "the source gives no time",
}

_CLOCK: Final = (
    "The clock is the node's own: how far it was off is not part of these lines."
)

#: Categories of causes that are the tenant's own.
_OWN_CATEGORIES: Final = ("user", "human", "scheduler")

_OWN: Final = (
    "By its code this is usually the doing of the application or of who runs it, and"
    " not of the machine: look at the program before it is claimed."
)


def part(facts: Facts) -> Part:
    """Return what happened and where, as facts in two columns."""
    incident, gpu = facts.incident, facts.gpu
    rank = "" if gpu["rank"] is None else str(gpu["rank"])
    return Part(
        name="what",
        title="What, where and when",
        heading=_heading(facts),
        paragraphs=[
            *([_CLOCK] if incident["first_ns"] is not None else []),
            *([_OWN] if incident["category"] in _OWN_CATEGORIES else []),
        ],
        facts=[
            ("Incident", name(incident["incident_id"])),
            ("Code", f"{name(facts.code)}: {name(incident['name'] or NOT_KNOWN, 200)}"),
            ("Severity", said(incident["severity"] or NOT_KNOWN)),
            ("Whose", said(incident["category"] or NOT_KNOWN)),
            ("Component", said(incident["component"] or NOT_KNOWN)),
            ("First sign", instant(incident["first_ns"])),
            ("Last sign", instant(incident["last_ns"])),
            ("Times", "; ".join(_qualities(facts))),
            ("Cluster", name(incident["cluster"])),
            ("Node", name(incident["host"]) if incident["host"] else _hosts(facts)),
            ("GPU UUID", name(gpu["uuid"] or NOT_KNOWN)),
            ("GPU serial", name(gpu["serial"] or NOT_KNOWN)),
            ("PCI address", name(gpu["pci"] or NOT_KNOWN)),
            ("Rank in the run", rank or NOT_KNOWN),
            ("Action by catalogue", _action(facts)),
            ("Catalogue", _catalogue(facts)),
        ],
    )


def _heading(facts: Facts) -> str:
    told = facts.root["line_count"].sum()
    others = facts.incident["lines"] - told
    more = f" and {plural(int(others), 'line')} of what followed" if others > 0 else ""
    return f"{plural(int(told), 'line')} of {name(facts.code)}{more}."


def _hosts(facts: Facts) -> str:
    hosts = facts.lines["host"].drop_nulls().unique().sort().to_list()
    return ", ".join(name(host) for host in hosts) or NOT_KNOWN


def _qualities(facts: Facts) -> list[str]:
    zones = dict(facts.files.select("file_id", "zone").iter_rows())
    pairs = facts.lines.select("time_quality", "file_id").unique()
    texts = [
        _QUALITIES[quality].format(zone=name(zones.get(file_id)))
        for quality, file_id in pairs.sort(pairs.columns).iter_rows()
    ]
    return list(dict.fromkeys(texts)) or [NOT_KNOWN]


def _action(facts: Facts) -> str:
    action = facts.incident["action"]
    return said(action) if action else "the catalogue does not say"


def _catalogue(facts: Facts) -> str:
    if facts.incident["root_source"] != "xid":
        return "none: code and meaning are those of the source that told of it"
    used = name(facts.incident["catalogue"] or CATALOGUE)
    if facts.incident["name"] == UNKNOWN_NAME:
        return f"the code is not in Xid catalogue {used}"
    return f"Xid catalogue {used}"
