"""Bring an inbox to where its last note says that a replay was.

A replay may end anywhere: by a kill, or on a full disk. What it released after its last
note is cut off, and a rotation that it had begun is ended.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from ingest import _disk
from ingest._names import display
from ingest._replay_copy import continues
from ingest._replay_track import Track
from ingest.errors import TelemetryError


def recover(tracks: Iterable[Track], *, is_rotating: bool) -> None:
    """Cut off what was released after the last note, and end a rotation.

    Args:
        tracks: Files of the recorded run, as they were noted.
        is_rotating: Whether files were about to be rotated.

    Raises:
        TelemetryError: If a file is not what was released.
    """
    tracks = list(tracks)
    _sweep(track.target for track in tracks)
    rotatable = set(map(id, rotatable_of(tracks))) if is_rotating else set()
    for track in tracks:
        _recover(track, may_be_rotated=id(track) in rotatable)


def rotatable_of(tracks: Iterable[Track]) -> list[Track]:
    """Return the files that may be rotated: a recorded log.1 keeps its name."""
    tracks = list(tracks)
    names = {track.target for track in tracks}
    return [
        track
        for track in tracks
        if track.is_unrotated and track.old(track.rotated + 1) not in names
    ]


def _recover(track: Track, *, may_be_rotated: bool) -> None:
    if not track.place:
        _take_back(track, 0)
    elif not track.times.grows or track.is_done:
        _compare(track)
    elif may_be_rotated and _was_rotated(track):
        track.rotated, track.is_renamed = track.rotated + 1, True
        _cut(track)
    else:
        _cut(track)
        if may_be_rotated:
            track.rotate()


def _was_rotated(track: Track) -> bool:
    """Whether a rotation renamed it after that had been noted."""
    old, header = track.old(1), track.times.header[: track.ahead]
    if not old.exists() or old.stat().st_size < track.expected:
        return False
    return continues(old, 0, track.source, track.begin, header)


def _compare(track: Track) -> None:
    """See whether a file that is whole is still there, as its owner may clear it."""
    if track.is_gone:
        return
    try:
        track.is_gone = track.growing.stat().st_size != track.expected
    except FileNotFoundError:
        track.is_gone = True


def _cut(track: Track) -> None:
    path, expected = track.growing, track.expected
    if track.is_renamed and path.exists():
        ended = track.begin + path.stat().st_size - track.ahead
        _take_back(track, max(ended, 0))
    if path.exists() and path.stat().st_size > expected:
        if not continues(path, expected, track.source, track.place):
            _refuse(path, expected)
        os.truncate(path, expected)
    track.refuse_changed()


def _take_back(track: Track, place: int) -> None:
    """Remove a file that was begun after the last note.

    Args:
        track: The file.
        place: Where it begins in the recorded file. [B]
    """
    path = track.target
    if not path.exists():
        return
    header = track.times.header if place else b""
    if not continues(path, 0, track.source, place, header):
        _refuse(path, 0)
    path.unlink()


def _refuse(path: Path, place: int) -> None:
    message = (
        f"{display(path)}: from byte {place:,} on it has what was not released, so"
        " something else wrote it; move it away, or replay into a new folder"
    )
    raise TelemetryError(message)


def _sweep(targets: Iterable[Path]) -> None:
    """Remove files that were about to take the place of others."""
    by_folder: dict[Path, set[str]] = {}
    for target in targets:
        by_folder.setdefault(target.parent, set()).add(target.name)
    for folder, names in by_folder.items():
        for path in folder.glob(f"{_disk.PARTIAL}*"):
            if path.name.removeprefix(_disk.PARTIAL).partition("-")[2] in names:
                path.unlink()
