"""How far a replay is, kept in its inbox so that another can go on."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ingest import _disk
from ingest._names import display
from ingest._replay_track import Track
from ingest.errors import TelemetryError

#: File of the inbox that says so; hidden, so that no ingest takes it.
STATE: Final = ".gpuledger-replay.json"


def save(inbox: Path, now_ns: int, tracks: Iterable[Track]) -> None:
    """Note how far a replay is.

    Args:
        inbox: Folder where its files appear.
        now_ns: Simulated time. [ns]
        tracks: Its files.
    """
    files = {
        _name(track, inbox): [
            *(track.place, track.rotated, track.is_renamed),
            track.begin,
        ]
        for track in tracks
        if track.place
    }
    with _disk.replacing(inbox / STATE) as partial:
        said = json.dumps({"now_ns": now_ns, "files": files})
        partial.write_text(said, encoding="utf-8")


def load(inbox: Path) -> dict[str, Any] | None:
    """Return what an earlier replay noted; None where there was none."""
    try:
        text = (inbox / STATE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def resume(
    state: dict[str, Any], source: Path, inbox: Path, tracks: Iterable[Track]
) -> int:
    """Put files where an earlier replay left them.

    Args:
        state: What it noted.
        source: Folder of the recorded run.
        inbox: Folder where its files appear.
        tracks: Its files.

    Returns:
        Simulated time. [ns]

    Raises:
        TelemetryError: If it was a replay of something else.
    """
    by_name = {_name(track, inbox): track for track in tracks}
    try:
        for name, (place, rotated, is_renamed, begin) in state["files"].items():
            track = by_name[name]
            track.place, track.rotated = int(place), int(rotated)
            track.is_renamed, track.begin = bool(is_renamed), int(begin)
            track.recover()
        return int(state["now_ns"])
    except (KeyError, TypeError, ValueError, OSError) as error:
        message = (
            f"{display(inbox / STATE)}: expected a replay of {display(source)} as it"
            " was left; give its folder, or replay into a new one"
        )
        raise TelemetryError(message) from error


def _name(track: Track, inbox: Path) -> str:
    """Return a name for JSON: names of files may be no text."""
    return os.fsencode(track.target.relative_to(inbox)).hex()
