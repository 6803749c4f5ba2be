"""Release a recorded run into an inbox in its own time order, as a live cluster would.

Logs grow line by line and may end within one; what has no lines appears whole when its
last record was written; what has no time comes first. The clock is the caller's: it may
hold it while a night runs.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest import _replay_state
from ingest._hashing import Hashed, look
from ingest._names import display
from ingest._replay_inbox import holding, refuse_nested
from ingest._replay_recovery import rotatable_of
from ingest._replay_silence import Silence, periods_of, silences_of
from ingest._replay_times import times_of
from ingest._replay_track import Track
from ingest.discovery import Options, discover
from ingest.errors import TelemetryError
from ingest.known import Known

__all__ = ["Released", "Replay", "Silence", "holding"]


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
        silences: Long times in which nothing was written.
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
                files or those of another recording, or nothing in the run has a time.
        """
        refuse_nested(source, inbox)
        state = _replay_state.load(inbox)
        found = discover([source], options or Options())
        hashed, self.unreadable = look(found, Known())
        self._inbox = inbox
        self._tracks = list(_tracks(hashed, source, inbox, cuts_lines=cuts_lines))
        dated = [t.times.times_ns for t in self._tracks if len(t.times.times_ns)]
        if not dated:
            message = (
                f"{display(source)}: expected telemetry with times, found none in"
                f" {len(hashed)} files; give the folder of a recorded run"
            )
            raise TelemetryError(message)
        self.first_ns = min(int(times[0]) for times in dated)
        self.last_ns = max(int(times[-1]) for times in dated)
        self.silences: list[Silence] = silences_of(dated)
        self._rotations = periods_of(dated, rotate_ns) if rotate_ns else []
        self.now_ns = self.first_ns - 1
        self._is_begun = state is not None
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

    @property
    def bytes_left(self) -> int:
        """What has not been released. [B]"""
        return sum(track.size - track.place for track in self._tracks)

    @property
    def gone(self) -> list[Path]:
        """Files that are no longer in the inbox as they were released."""
        return [track.target for track in self._tracks if track.is_gone]

    def next_after(self, time_ns: int) -> Path:
        """Return the file that is the first to be written to after a time.

        Args:
            time_ns: The time; before the end of the run. [ns]
        """
        later = []
        for track in self._tracks:
            times = track.times.times_ns
            place = int(times.searchsorted(time_ns, "right"))
            if place < len(times):
                later.append((int(times[place]), track.source))
        return min(later)[1]

    def advance(self, to_ns: int) -> Released:
        """Release what was written by a simulated time.

        Args:
            to_ns: The time; by an earlier one than now, only what was added since then
                to the recording is released. [ns]
        """
        self._inbox.mkdir(parents=True, exist_ok=True)
        if not self._is_begun:
            self._save()
        done = Released()
        first = bisect_right(self._rotations, self.now_ns)
        for moment in self._rotations[first : bisect_right(self._rotations, to_ns)]:
            done += self._release(moment)
            self._save(is_rotating=True)
            rotated = sum(track.rotate() for track in rotatable_of(self._tracks))
            done += Released(rotated=rotated)
        done += self._release(to_ns)
        self._save()
        return done

    def _release(self, to_ns: int) -> Released:
        sizes = [track.release(to_ns) for track in self._tracks]
        self.now_ns = max(self.now_ns, to_ns)
        return Released(sum(size > 0 for size in sizes), sum(sizes))

    def _save(self, *, is_rotating: bool = False) -> None:
        now = self.now_ns
        _replay_state.save(self._inbox, now, self._tracks, is_rotating=is_rotating)
        self._is_begun = True


def _tracks(
    hashed: Iterable[Hashed], source: Path, inbox: Path, *, cuts_lines: bool
) -> Iterator[Track]:
    home = source.resolve()
    for one in hashed:
        path = one.opened.file.path
        if path.is_relative_to(home):
            target = inbox / path.relative_to(home)
            yield Track(path, target, times_of(one), cuts_lines)
