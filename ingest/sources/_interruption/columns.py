"""Columns of a run's own list of interruptions: their names, and what is in them."""

import re
from typing import Final

#: Names that a column may have, by what it is; capitals, blanks and dots are the same.
COLUMNS: Final = {
    "start": ("start", "start_time", "time", "timestamp", "date_time", "datetime",
              "interrupted_at", "stopped_at", "started_at", "begin", "from"),
    "end": ("end", "end_time", "resumed_at", "restarted_at", "recovered_at", "until"),
    "duration": ("duration", "downtime", "down_time", "lost_time"),
    "planned": ("planned", "planned_or_unplanned", "planned_unplanned", "scheduled"),
    "category": ("category", "class", "type", "kind"),
    "component": ("component", "part"),
    "cause": ("cause", "root_cause", "reason", "description", "summary", "notes"),
    "host": ("host", "hosts", "node", "nodes", "hostname", "nodelist"),
    "gpu": ("gpu", "gpu_uuid", "gpu_serial", "gpu_key"),
    "run": ("run", "run_id", "run_name"),
}  # fmt: skip

#: Units that a length of time may have, in its column's name or behind its number. [ns]
UNITS: Final = {
    "s": 1_000_000_000,
    "sec": 1_000_000_000,
    "seconds": 1_000_000_000,
    "m": 60_000_000_000,
    "min": 60_000_000_000,
    "minutes": 60_000_000_000,
    "h": 3_600_000_000_000,
    "hr": 3_600_000_000_000,
    "hours": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "days": 86_400_000_000_000,
}

_NOT_NAME: Final = re.compile(r"[^a-z0-9]+")


def slug(text: str) -> str:
    """Return a name in small letters, with underscores between its words."""
    return _NOT_NAME.sub("_", text.lower()).strip("_")


def place(names: list[str]) -> tuple[dict[str, int], str | None, int]:
    """Say which column is where.

    Args:
        names: Cells of the header.

    Returns:
        The place of each column that is known, the unit that the column of durations
        has in its name, and how many columns are not known.
    """
    places: dict[str, int] = {}
    unit, unknown = None, 0
    for index, name in enumerate(map(slug, names)):
        base, _, last = name.rpartition("_")
        has_unit = last in UNITS and base in COLUMNS["duration"]
        kind = "duration" if has_unit else kind_of(name)
        if kind is None or kind in places:
            unknown += 1
            continue
        places[kind] = index
        unit = last if has_unit else unit
    return places, unit, unknown


def kind_of(name: str) -> str | None:
    """Return what a column of a name is, None where that is not known."""
    return next((kind for kind, names in COLUMNS.items() if name in names), None)


def is_list(names: list[str]) -> bool:
    """Return whether a header is that of a list of interruptions.

    It has a start, says what the cause was, and when it was over or whether it was
    planned; at least half of its columns are known.
    """
    places, _, unknown = place(names)
    tells = places.keys() & {"cause", "component", "category"}
    bounds = places.keys() & {"end", "duration", "planned"}
    is_known = len(places) >= unknown
    return "start" in places and bool(tells) and bool(bounds) and is_known
