"""What a report is compared with: a run, a day, or another lake."""

import re
from datetime import date
from pathlib import Path
from typing import Final

from analysis import Frames
from analysis.changes import INPUTS
from analysis.lost_time import LostTime
from analysis.runs import Runs
from ingest.errors import SettingError
from ingest.lake import Snapshot, snapshot
from pipeline._heavy import heavy_as_rolled, rows_of
from reports._words import name
from reports.provenance import Baseline

#: Days before count from a moment of a trace's own.
_FIRST_DAY: Final = "2000-01-01"

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def baseline_of(text: str, lake: Snapshot, run_ids: tuple[str, ...]) -> Baseline:
    """Return the baseline that a text means.

    Args:
        text: A run of the lake, a UTC day as YYYY-MM-DD, or the folder of a lake.
        lake: The lake of the page.
        run_ids: Runs of the page.

    Raises:
        SettingError: If it means none of these, or nothing is left to compare with it.
        LakeError: If the other lake is damaged.
    """
    runs = lake.scan(Runs).select("run_id").collect().to_series().sort().to_list()
    if text in runs:
        return _run(text, lake, run_ids)
    if _DAY.fullmatch(text):
        return Baseline(label=text, frames=Frames({}), since=_since(text, lake))
    if Path(text).is_dir():
        return _lake(Path(text))
    message = (
        f"--compare {text!r}: no run of the lake, no day as 2026-03-01 and no folder of"
        f" a lake; runs: {', '.join(runs) or 'none'}"
    )
    raise SettingError(message)


def _run(run_id: str, lake: Snapshot, run_ids: tuple[str, ...]) -> Baseline:
    if run_ids == (run_id,):
        message = (
            f"--compare {run_id!r}: the page is about that run alone; give another run"
        )
        raise SettingError(message)
    return Baseline(f"run {name(run_id)}", _frames(lake), (run_id,))


def _since(text: str, lake: Snapshot) -> str:
    """Return a day before and after which time was paid for."""
    day = _day(text)
    days = lake.scan(LostTime).select("day").collect().to_series()
    told = days.filter(days >= _FIRST_DAY)
    if told.is_empty():
        message = f"--compare {text!r}: nothing in the lake has a day"
        raise SettingError(message)
    first, last = str(told.min()), str(told.max())
    if not first < day <= last:
        message = (
            f"--compare {text!r}: the lake tells of {first} to {last}; give a day after"
            " the first of them"
        )
        raise SettingError(message)
    return day


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        message = f"--compare {text!r}: the calendar has no such day"
        raise SettingError(message) from error


def _lake(root: Path) -> Baseline:
    other = snapshot(root)
    if not other.generation:
        message = f"--compare {str(root)!r}: no lake there; give the folder of a lake"
        raise SettingError(message)
    label = f"lake {name(root.name or str(root))}"
    return Baseline(label, _frames(other), is_elsewhere=True)


def _frames(lake: Snapshot) -> Frames:
    heavy = heavy_as_rolled(lake)
    return Frames({table: rows_of(lake, table, heavy) for table in INPUTS})
