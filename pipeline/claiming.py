"""Write the page about one incident, for the provider of its node."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis._claim_lines import lines_of, positions_in_files
from analysis.incidents import Incidents
from analysis.interruptions import Interruptions
from analysis.runs import Runs
from ingest.errors import LakeError, SettingError
from ingest.lake import Snapshot, snapshot
from ingest.quoting import ALIKE, MOST_LINES, Quotes, Wanted, quote
from ingest.quoting_rows import BY_ROW, quote_rows
from ingest.tables import Failures, IngestedFiles, RunCards
from pipeline.reporting import Written, prices_of, provenance_of, refuse_target, replace
from pipeline.settings import Settings
from reports._claim_parts import NOT_KNOWN, second
from reports._code_words import code
from reports._section import Scope
from reports._words import name

#: Incidents that a message lists.
_MOST_LISTED: Final = 8

#: Characters of a host's name in a message.
_MOST_OF_A_HOST: Final = 40


def write_claim(
    root: Path, settings: Settings, output: Path | None, incident: str
) -> Written:
    """Write one self-contained HTML file about an incident.

    Args:
        root: The lake.
        settings: Price and days to claim in force.
        output: File to write; `claim-ID.html` in the lake where None.
        incident: Identity of the incident, or how only it begins.

    Raises:
        SettingError: If there is no such incident, or no file can have that name.
        LakeError: If there is no lake.
    """
    from reports import claim

    lake = snapshot(root)
    if not lake.generation:
        message = f"{root}: no lake there; ingest something first, or give --lake"
        raise LakeError(message)
    incident_id = _chosen(lake, incident)
    path = output if output is not None else root / f"claim-{incident_id}.html"
    refuse_target(path)
    frames = Frames({table: lake.scan(table) for table in claim.INPUTS})
    runs = lake.scan(Runs).join(
        lake.scan(Interruptions).filter(Interruptions.incident_id.col == incident_id),
        on="run_id",
        how="semi",
    )
    told = runs.collect()
    prices = prices_of(lake.scan(RunCards).collect(), told, settings)
    made = claim.build(
        frames,
        incident_id,
        _quotes(frames, incident_id),
        Scope(prices, provenance_of(root, settings, told)),
        settings.claim_window_days,
    )
    replace(path, made.html)
    return Written(path.resolve(), made.headline, made.notes)


def _chosen(lake: Snapshot, incident: str) -> str:
    """Return the incident that a text means.

    Raises:
        SettingError: If it means none, or several.
    """
    rows = (
        lake.scan(Incidents)
        .select("incident_id", "host", "first_ns", "root_source", "root_code", "name")
        .sort(["first_ns", "incident_id"], descending=[True, False], nulls_last=True)
        .collect()
    )
    begins = rows.filter(pl.col("incident_id").str.starts_with(incident.lower()))
    if incident and begins.height == 1:
        return str(begins["incident_id"][0])
    if incident and begins.height > 1:
        several = f"--claim {incident!r}: several incidents begin so: "
        raise SettingError(several + _listed(begins))
    none = f"--claim {incident!r}: no such incident in the lake; incidents: "
    raise SettingError(none + _listed(rows))


def _listed(rows: pl.DataFrame) -> str:
    if rows.is_empty():
        return "none yet: ingest kernel logs, then run gpuledger analyze"
    more = rows.height - _MOST_LISTED
    names = ", ".join(_named(row) for row in rows.head(_MOST_LISTED).to_dicts())
    return f"{names} and {more} more" if more > 0 else names


def _named(row: Mapping[str, Any]) -> str:
    when = NOT_KNOWN if row["first_ns"] is None else second(row["first_ns"])
    what = code(row["root_source"], row["root_code"], row["name"])
    host = name(row["host"], _MOST_OF_A_HOST) if row["host"] else "no node"
    return f"{row['incident_id']} ({what}, {host}, {when})"


def _quotes(frames: Frames, incident_id: str) -> dict[str, Quotes]:
    """Look for the lines of an incident in the files that they were read from."""
    lines = lines_of(frames, incident_id).collect()
    found = positions_in_files(frames[Failures], lines)
    order = lines.with_row_index("place").group_by("file_id", "message")
    told = found.join(
        order.agg(pl.col("place").min(), is_root=(pl.col("role") != "cascade").any()),
        on=["file_id", "message"],
    ).sort("file_id", ~pl.col("is_root"), "place")
    files = frames[IngestedFiles].join(told.lazy(), on="file_id", how="semi").collect()
    return dict(_looked_up(files, told))


def _looked_up(files: pl.DataFrame, told: pl.DataFrame) -> Iterator[tuple[str, Quotes]]:
    for file in files.to_dicts():
        # of more messages than lines are quoted, the first of the root's go before
        mine = told.filter(pl.col("file_id") == file["file_id"]).head(MOST_LINES)
        rows = mine.to_dicts()
        wanted = [
            Wanted(
                row["message"],
                frozenset(row["positions"]),
                int(row["total"]),
                bool(row["is_root"]),
            )
            for row in rows
            if row["message"]
        ]
        yield file["file_id"], _quoted(file, wanted)


def _quoted(file: Mapping[str, Any], wanted: list[Wanted]) -> Quotes:
    """Return the lines of a file; of a table, the rows that messages come from."""
    path, size, source = file["path"], int(file["bytes"]), file["source"]
    found = quote(path, file["sha256"], size, wanted)
    is_as_read = not found.fault or found.fault == ALIKE
    if is_as_read and (source in BY_ROW or not found.lines):
        return quote_rows(path, source, size, wanted, found)
    return found
