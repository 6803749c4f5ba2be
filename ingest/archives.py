"""Archives among the files that were found, unpacked for the time of an ingest.

A zip or tar archive, in up to two envelopes, is known by its content. Each regular file
in it is a file that was found, at `archive.tar.gz!/inner/name`, with the run card that
is nearest above it: in the archive, else beside or above the archive. Archives are
opened in archives, and not in those again.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest import files
from ingest._archive_kinds import Kind, kind_of
from ingest._archive_members import Unpacker
from ingest._archive_store import Limits, Store, storing
from ingest._cards import Cards
from ingest._found import Found, Options
from ingest.run_card import CARD_NAME

__all__ = ["Limits", "Unpacked", "unpacked"]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Files that were found, those in archives too.

    Attributes:
        found: Files, in the order of the paths that are shown.
        unread: What could not be unpacked, and why.
    """

    found: tuple[Found, ...]
    unread: tuple[tuple[str, str], ...] = ()


@contextmanager
def unpacked(
    found: Sequence[Found],
    options: Options,
    root: Path,
    limits: Limits | None = None,
) -> Iterator[Unpacked]:
    """Put the members of archives in the place of the archives.

    They are on disk, in a hidden folder of the lake, as long as the context lasts.

    Args:
        found: Files that were found.
        options: What was said for all files.
        root: The lake's folder, which must be there and locked.
        limits: How much is unpacked.

    Raises:
        SettingError: If a run card in an archive cannot be used, or describes a run
            otherwise than another card does.
    """
    kinds = {file.path: kind for file in found if (kind := _kind(file.path))}
    if not kinds:
        yield Unpacked(tuple(found))
        return
    with storing(root, limits or Limits()) as store:
        yield _unpack(found, kinds, options, store)


def _kind(path: Path) -> Kind | None:
    try:
        files.status_of(path)
        return kind_of(path)
    except OSError:
        # whoever opens it to read it says why it cannot be read
        return None


def _unpack(
    found: Sequence[Found], kinds: dict[Path, Kind], options: Options, store: Store
) -> Unpacked:
    cards = Cards(options)
    for file in found:
        if file.path.name == CARD_NAME:
            cards.read(file.path)
    unpacker = Unpacker(store, options, cards)
    plain = [file for file in found if file.path not in kinds]
    members = [
        member
        for file in found
        if (kind := kinds.get(file.path))
        for member in unpacker.members(file, kind)
    ]
    return Unpacked(
        found=tuple(sorted((*plain, *members), key=lambda file: file.shown)),
        unread=tuple(sorted(unpacker.unread)),
    )
