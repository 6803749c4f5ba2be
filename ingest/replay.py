"""Release a recorded run into an inbox in its own time order, as a live cluster would.

Logs grow line by line and may end within one; what has no lines appears whole when its
last record was written; what has no time comes first. The clock is the caller's: it may
hold it while a night runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest import _replay_state
from ingest._hashing import look
from ingest._names import display, unrotated
from ingest._replay_times import times_of
from ingest._replay_track import Track
from ingest.discovery import Options, discover
from ingest.errors import TelemetryError
from ingest.known import Known


@dataclass(frozen=True, slots=True)
class Released:
    """What a step of a replay did.

    Attributes:
        files: Files that grew or appeared. [1]
        bytes: Bytes that came. [B]
        rotated: Files that were rotated. [1]
    """

    files: int = 0
    bytes: int = 0
    rotated: int = 0

    def __add__(self, other: "Released") -> "Released":
        """Return both together; a file may be counted in each."""
        return Released(
            self.files + other.files,
            self.bytes + other.bytes,
            self.rotated + other.rotated,
        )


class Replay:
    """A recorded run, and how much of it has been released.

    Attributes:
        now_ns: Simulated time; what was written by then has been released. [ns]
        first_ns: When the first line was written. [ns]
        last_ns: When the last line was written. [ns]
        unreadable: Files that cannot be opened and are left out, and why.
    """

    def __init__(
        self,
        source: Path,
        inbox: Path,
        options: Options | None = None,
        *,
        rotate_ns: int | None = None,
        cuts_lines: bool = True,
    ) -> None:
        """Look at every file of a run, and go on where an earlier replay ended.

        Args:
            source: Folder of the recorded run.
            inbox: Folder where its files appear; empty, or that of an earlier replay.
            options: How files are read, for their times.
            rotate_ns: How often logs are rotated; never where None. [ns]
            cuts_lines: Whether a growing file may end within a line.

        Raises:
            TelemetryError: If one folder is within the other, the inbox has other
                files, or nothing in the run has a time.
        """
        _refuse_nested(source, inbox)
        state = _replay_state.load(inbox)
        if state is None and inbox.exists() and any(inbox.iterdir()):
            message = f"{display(inbox)}: not empty; replay into a new folder"
            raise TelemetryError(message)
        found = discover([source], options or Options())
        hashed, self.unreadable = look(found, Known())
        home = source.resolve()
        self._inbox = inbox
        self._rotate_ns = rotate_ns
        self._tracks = [
            Track(path, inbox / path.relative_to(home), times_of(one), cuts_lines)
            for one in hashed
            for path in [one.opened.file.path]
            if path.is_relative_to(home)
        ]
        self._names = {track.target for track in self._tracks}
        times = [time for t in self._tracks for _, time in t.times.marks]
        if not times:
            message = (
                f"{display(source)}: expected telemetry with times, found none in"
                f" {len(hashed)} files; give the folder of a recorded run"
            )
            raise TelemetryError(message)
        self.first_ns, self.last_ns = min(times), max(times)
        self.now_ns = self.first_ns - 1
        if state is not None:
            self.now_ns = _replay_state.resume(state, source, inbox, self._tracks)

    @property
    def is_done(self) -> bool:
        """Whether everything has been released."""
        return all(track.is_done for track in self._tracks)

    @property
    def files(self) -> int:
        """Files of the run. [1]"""
        return len(self._tracks)

    @property
    def left(self) -> int:
        """Files of which not all has been released. [1]"""
        return sum(not track.is_done for track in self._tracks)

    def advance(self, to_ns: int) -> Released:
        """Release what was written by a simulated time.

        Args:
            to_ns: The time; an earlier one than now releases nothing. [ns]
        """
        self._inbox.mkdir(parents=True, exist_ok=True)
        done = Released()
        try:
            for moment in self._rotations(to_ns):
                done += self._release(moment)
                rotated = sum(track.rotate() for track in self._rotatable())
                done += Released(rotated=rotated)
            done += self._release(to_ns)
        finally:
            _replay_state.save(self._inbox, self.now_ns, self._tracks)
        return done

    def _release(self, to_ns: int) -> Released:
        sizes = [track.release(to_ns) for track in self._tracks]
        self.now_ns = max(self.now_ns, to_ns)
        return Released(sum(size > 0 for size in sizes), sum(sizes))

    def _rotations(self, to_ns: int) -> Iterator[int]:
        """Yield the moments until a time at which logs are rotated."""
        every = self._rotate_ns
        if every:
            first = self.now_ns // every * every + every
            yield from range(first, to_ns + 1, every)

    def _rotatable(self) -> Iterator[Track]:
        for track in self._tracks:
            # a recorded log.1 keeps its name
            name = track.target.name
            taken = track.target.with_name(f"{name}.{track.rotated + 1}")
            if unrotated(name) == name and taken not in self._names:
                yield track


def _refuse_nested(source: Path, inbox: Path) -> None:
    home, target = source.resolve(), inbox.resolve()
    if not home.is_dir():
        message = f"{display(source)}: no such folder; give that of a recorded run"
        raise TelemetryError(message)
    if target.exists() and not target.is_dir():
        message = f"{display(inbox)}: expected a folder; give another --into"
        raise TelemetryError(message)
    if home.is_relative_to(target) or target.is_relative_to(home):
        message = (
            f"{display(inbox)}: one of {display(source)} and the inbox is within the"
            " other; replay into a folder of its own"
        )
        raise TelemetryError(message)
