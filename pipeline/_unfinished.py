"""A lake that is filled with a generated cluster says so until all days are there."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from analysis import ANALYSES, Rollup
from ingest._disk import replacing
from ingest.lake import Snapshot
from ingest.staging import Place
from pipeline._given import GivenDay

#: Days that are to come, in the lake's folder.
_MARK: Final = ".filling.json"


def begin(root: Path, run_id: str, days: Iterable[GivenDay]) -> None:
    """Note which days are to come.

    Args:
        root: The lake's folder.
        run_id: Run that the days are of.
        days: The days.
    """
    places = [[day.table.sql_name(), day.place.owner, day.place.day] for day in days]
    said = json.dumps({"run_id": run_id, "days": places})
    with replacing(root / _MARK) as partial:
        partial.write_text(said, "utf-8")


def end(root: Path) -> None:
    """Note that all are there."""
    (root / _MARK).unlink(missing_ok=True)


def unfinished(lake: Snapshot) -> tuple[str, ...]:
    """Say that days of a run are still to come, where a fill was stopped."""
    mark = lake.root / _MARK
    if not mark.exists():
        return ()
    said = json.loads(mark.read_text("utf-8"))
    days = {day for _, _, day in said["days"]}
    missing = {
        day
        for table, owner, day in said["days"]
        if not _is_there(lake, table, Place(owner, day))
    }
    there = f"{len(days - missing):,} of {len(days):,} old days there"
    line = (
        f"{said['run_id']}: filling the lake was stopped with {there}; the same"
        " gpuledger generate --into goes on"
    )
    return (line,)


def _is_there(lake: Snapshot, table: str, place: Place) -> bool:
    """Return whether each rollup of a table has a day."""
    outputs = [
        one.outputs[0]
        for one in ANALYSES
        if isinstance(one, Rollup) and one.source.sql_name() == table
    ]
    return all(
        any((part.owner, part.day) == place for part in lake.parts(output))
        for output in outputs
    )
