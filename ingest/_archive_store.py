"""Where members of archives are during an ingest: files whose names are numbers.

No name from an archive becomes a name on disk, so none can lead anywhere.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from ingest._archive_entry import BrokenMemberError, Member
from ingest._envelope_layer import Fault
from ingest._expanded import MOST_RATIO, SMALL_BYTES

#: How the name of the folder starts. It lies in the lake, which no ingest looks into,
#: and whoever locks the lake next deletes what a killed process left of it.
UNPACKED: Final = ".unpacked-"

#: Room that is left on the disk, for the rows that are read from the members. [B]
_ROOM_BYTES: Final = 1 << 30

_MEBI: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is unpacked.

    Attributes:
        entries: Members of an archive, those that are passed over too: a folder of a
            run with ten thousand ranks has fewer. [1]
        unpacked_bytes: Content of all members of an ingest: enough for the traces of a
            large run, and less than most disks have. [B]
    """

    entries: int = 100_000
    unpacked_bytes: int = 256 << 30


class NoRoomError(Exception):
    """A member is larger than what may be unpacked still."""


class Store:
    """The folder, and how much of the limits is used.

    Attributes:
        limits: How much is unpacked.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        """Start with an empty folder."""
        self.limits = limits
        self._folder = folder
        self._count = 0
        self._used = 0

    def budget(self, size: int) -> "Budget":
        """Return what may be unpacked from an archive.

        Args:
            size: Its size on disk. [B]
        """
        return Budget(self, max(SMALL_BYTES, MOST_RATIO * size))

    def path(self) -> Path:
        """Return a path that no file has."""
        self._count += 1
        return self._folder / str(self._count)

    def refuse(self, size: int) -> None:
        """Refuse what is too large for the ingest or for the disk.

        Raises:
            NoRoomError: If it is.
        """
        most = self.limits.unpacked_bytes
        if self._used + size > most:
            message = f"{size} bytes: more than {most} in all; raise unpacked_gib"
            raise NoRoomError(message)
        free = shutil.disk_usage(self._folder).free - _ROOM_BYTES
        if size > free:
            message = (
                f"{size} bytes: the disk of the lake has {max(0, free) // _MEBI} MiB to"
                " spare; make room"
            )
            raise NoRoomError(message)

    def use(self, size: int) -> None:
        """Count what was unpacked."""
        self._used += size


@dataclass(slots=True)
class Budget:
    """What may be unpacked still from an archive and from those in it.

    Attributes:
        store: Where to.
        left: Content that is left. [B]
    """

    store: Store
    left: int

    def keep(self, member: Member) -> tuple[Path, Fault | None]:
        """Write a member to a file; return it, and what is wrong with it.

        Raises:
            NoRoomError: If it is too large.
            OSError: If it cannot be written.
        """
        if member.size > self.left:
            message = (
                f"{member.size} bytes: an archive of its size holds no more than"
                f" {MOST_RATIO} times as much; unpack it before, if it does"
            )
            raise NoRoomError(message)
        self.store.refuse(member.size)
        path = self.store.path()
        try:
            fault = _write(path, member)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        size = path.stat().st_size
        self.left -= size
        self.store.use(size)
        return path, fault


def _write(path: Path, member: Member) -> Fault | None:
    with path.open("xb") as file:
        try:
            for chunk in member.content:
                file.write(chunk)
        except BrokenMemberError as error:
            return error.fault
    return None


@contextmanager
def storing(root: Path, limits: Limits) -> Iterator[Store]:
    """Give a place for members, which is gone afterwards.

    Args:
        root: The lake's folder.
        limits: How much is unpacked.
    """
    folder = Path(mkdtemp(prefix=UNPACKED, dir=root))
    try:
        yield Store(folder, limits)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(root: Path) -> None:
    """Delete what a killed process left; the lake must be locked."""
    for folder in root.glob(f"{UNPACKED}*"):
        shutil.rmtree(folder, ignore_errors=True)
