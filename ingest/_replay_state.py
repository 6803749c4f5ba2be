"""How far a replay is, kept in its inbox so that another can go on."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ingest import _disk
from ingest._names import display
from ingest._replay_copy import digest_of, naming
from ingest._replay_inbox import LOCK
from ingest._replay_recovery import recover
from ingest._replay_track import Track
from ingest.errors import TelemetryError

#: File of the inbox that says so; hidden, so that no ingest takes it.
STATE: Final = ".gpuledger-replay.json"


def save(
    inbox: Path, now_ns: int, tracks: Iterable[Track], *, is_rotating: bool = False
) -> None:
    """Note how far a replay is; what is on disk beyond that is cut off by the next.

    Args:
        inbox: Folder where its files appear.
        now_ns: Simulated time. [ns]
        tracks: Its files.
        is_rotating: Whether files are about to be rotated.
    """
    files = {_name(track, inbox): _note(track) for track in tracks if track.place}
    told = {"now_ns": now_ns, "is_rotating": is_rotating, "files": files}
    with _disk.replacing(inbox / STATE) as partial, naming(inbox / STATE):
        partial.write_text(json.dumps(told), encoding="utf-8")


def load(inbox: Path) -> dict[str, Any] | None:
    """Return what an earlier replay noted; None where there was none.

    Raises:
        TelemetryError: If there was none, and the inbox has other files.
    """
    try:
        text = (inbox / STATE).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        _refuse_full(inbox)
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
        TelemetryError: If it was a replay of something else, or its files are changed.
    """
    by_name = {_name(track, inbox): track for track in tracks}
    try:
        for name, note in state["files"].items():
            if name not in by_name:
                path = source / os.fsdecode(bytes.fromhex(name))
                message = (
                    f"{display(path)}: not there, but expected since it was replayed"
                    f" into {display(inbox)}; name another folder"
                )
                raise TelemetryError(message)
            _apply(note, by_name[name])
        now_ns, is_rotating = int(state["now_ns"]), bool(state["is_rotating"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = (
            f"{display(inbox / STATE)}: expected a replay of {display(source)} as it"
            " was left; replay into a new folder"
        )
        raise TelemetryError(message) from error
    recover(by_name.values(), is_rotating=is_rotating)
    return now_ns


def _refuse_full(inbox: Path) -> None:
    """Refuse an inbox with anything in it but for what a replay writes first."""
    ours = (STATE, LOCK)
    if not inbox.exists() or all(one.name.endswith(ours) for one in inbox.iterdir()):
        return
    message = f"{display(inbox)}: not empty; replay into a new folder"
    raise TelemetryError(message)


def _note(track: Track) -> list[int | str]:
    return [
        *(track.place, track.rotated, int(track.is_renamed)),
        *(track.begin, track.ahead, int(track.is_gone)),
        track.digest.hexdigest(),
    ]


def _apply(note: list[Any], track: Track) -> None:
    place, rotated, is_renamed, begin, ahead, is_gone = map(int, note[:6])
    _refuse_another(track, place, str(note[6]))
    track.place, track.rotated, track.is_renamed = place, rotated, bool(is_renamed)
    track.begin, track.ahead, track.is_gone = begin, ahead, bool(is_gone)


def _refuse_another(track: Track, place: int, digest: str) -> None:
    """Take the hash of a beginning, if it is that of what was released."""
    if place <= track.size:
        track.digest = digest_of(track.source, place)
        if track.digest.hexdigest() == digest:
            return
    message = (
        f"{display(track.source)}: of another recording than what was replayed before"
        f" to {display(track.target)}; name another folder"
    )
    raise TelemetryError(message)


def _name(track: Track, inbox: Path) -> str:
    """Return a name for JSON: names of files may be no text."""
    return os.fsencode(track.target.relative_to(inbox)).hex()
