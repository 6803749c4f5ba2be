"""Members of archives as files that were found."""

import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from ingest import _archive_tar, _archive_zip, files
from ingest._archive_cards import MemberCards
from ingest._archive_entry import Entry, Member, Unread
from ingest._archive_kinds import Kind, kind_of
from ingest._archive_store import Budget, NoRoomError, Store
from ingest._cards import Cards
from ingest._expanded import ExpandedFile
from ingest._found import Found, Options
from ingest._names import INSIDE, display

#: Archives in one another that are opened: a bundle of what each node has packed.
MOST_ARCHIVES: Final = 2

#: Folder in which macOS keeps what it knows of the files beside it.
_MACOS: Final = "__MACOSX"

#: Parts of a name that say nothing.
_NOTHING: Final = frozenset({"", "."})

#: Part of a name that leads up, and hides nothing. It is shown, and leads nowhere.
_ABOVE: Final = ".."

#: Bytes that are copied at a time. [B]
_CHUNK: Final = 1 << 20

#: Times before this are no times: zip starts with 1980, and tools that make the same
#: archive every time write zero. [ns]
_FIRST_NS: Final = 347_155_200_000_000_000

#: Times after this are none either: 64 bits of nanoseconds end here. [ns]
_LAST_NS: Final = 2**63 - 1


class Unpacker:
    """Opens archives.

    Attributes:
        unread: What could not be unpacked, and why.
    """

    def __init__(self, store: Store, options: Options, cards: Cards) -> None:
        """Start with the cards that are on disk."""
        self.unread: list[tuple[str, str]] = []
        self._store = store
        self._options = options
        self._cards = cards

    def members(self, archive: Found, kind: Kind) -> Iterator[Found]:
        """Unpack an archive, and archives in it; yield the other members.

        Raises:
            SettingError: If a run card in it cannot be used.
        """
        budget = self._store.budget(archive.path.stat().st_size)
        members = list(self._open(archive, kind, budget, depth=1))
        if not members and not any(self._of(archive)):
            self._refuse(archive, "", "an archive without files")
        yield from members

    def _of(self, archive: Found) -> Iterator[str]:
        """Yield what could not be unpacked of an archive."""
        for shown, _ in self.unread:
            if shown.startswith(archive.shown):
                yield shown

    def _open(
        self, archive: Found, kind: Kind, budget: Budget, depth: int
    ) -> Iterator[Found]:
        try:
            kept = self._keep(archive, kind, budget)
        except (OSError, NoRoomError) as error:
            self._refuse(archive, "", _reason(error))
            return
        cards = MemberCards(self._options, self._cards, archive, kept)
        for member in cards.files():
            inner = kind_of(member.path)
            if inner is None:
                yield member
            elif depth < MOST_ARCHIVES:
                yield from self._open(member, inner, budget, depth + 1)
            else:
                reason = f"more than {MOST_ARCHIVES} archives, one in the other"
                self.unread.append((member.shown, f"{reason}; unpack it before"))
                member.path.unlink()
        if depth > 1:
            archive.path.unlink()

    def _keep(self, archive: Found, kind: Kind, budget: Budget) -> list[Found]:
        """Unpack the members of an archive that are not hidden."""
        most = self._store.limits.entries
        seen: Counter[str] = Counter()
        kept: list[Found] = []
        with closing(_entries(archive, kind, budget)) as entries:
            for entry in islice(entries, most):
                name = _tidy(entry.name)
                if isinstance(entry, Unread):
                    self._refuse(archive, name, entry.reason)
                elif not _is_hidden(name):
                    seen[name] += 1
                    again = f" ({seen[name]})" if seen[name] > 1 else ""
                    kept += self._kept(archive, entry, name + again, budget)
            if next(entries, None) is not None:
                reason = f"more than {most} files; raise archive_entries"
                self._refuse(archive, "", reason)
        return kept

    def _kept(
        self, archive: Found, member: Member, name: str, budget: Budget
    ) -> Iterator[Found]:
        try:
            path, fault = budget.keep(member)
        except (OSError, NoRoomError) as error:
            self._refuse(archive, name, _reason(error))
            return
        if fault and not path.stat().st_size:
            self._refuse(archive, name, fault.text)
            path.unlink()
            return
        _date(path, member.modified_ns, archive.path)
        yield replace(archive, path=path, inside=_inside(archive, name), fault=fault)

    def _refuse(self, archive: Found, name: str, reason: str) -> None:
        shown = _inside(archive, name) if name else archive.shown
        self.unread.append((shown, reason))


def _entries(archive: Found, kind: Kind, budget: Budget) -> Generator[Entry]:
    with ExpandedFile(archive.path) as stream:
        if kind == "tar":
            yield from _archive_tar.members(stream)
        elif stream.is_plain:
            yield from _archive_zip.members(archive.path, archive.zone)
        else:
            # its directory is at its end, which an envelope has to be read to
            path, _ = budget.keep(_content(stream, archive.path))
            yield from _archive_zip.members(path, archive.zone)
            path.unlink()


def _content(stream: ExpandedFile, path: Path) -> Member:
    size = files.fingerprint(path).size
    return Member("", size, None, iter(lambda: stream.read(_CHUNK), b""))


def _tidy(name: str) -> str:
    """Return the name of a member as it is shown."""
    return "/".join(part for part in display(name).split("/") if part not in _NOTHING)


def _is_hidden(name: str) -> bool:
    return any(
        part == _MACOS or (part.startswith(".") and part != _ABOVE)
        for part in name.split("/")
    )


def _inside(archive: Found, name: str) -> str:
    return f"{archive.shown}{INSIDE}{name}"


def _date(path: Path, modified_ns: int | None, archive: Path) -> None:
    """Give a member the time that it has in the archive, else that of the archive."""
    if modified_ns is None or not _FIRST_NS < modified_ns < _LAST_NS:
        modified_ns = archive.stat().st_mtime_ns
    os.utime(path, ns=(modified_ns, modified_ns))


def _reason(error: OSError | NoRoomError) -> str:
    return getattr(error, "strerror", None) or str(error)
