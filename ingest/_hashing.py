"""Hash files, and their beginnings at the sizes of those that they may have grown from.

A file that the lake may have, since it has one of that size, is hashed as it is: there
is nothing more to know where it is there. Only one that is new is hashed at the sizes
of all its kin in the lake, of which there may be many thousands.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Protocol

from ingest import files
from ingest._looking import (
    OPENING_BYTES,
    Kin,
    Opened,
    Unreadable,
    open_head,
    sound,
    tried,
)
from ingest.discovery import Found
from ingest.files import Fingerprint
from ingest.sources import SOURCES

#: Files that are hashed at once where one is long, and from where on one is: small ones
#: are hashed before another thread would have begun. [1, B]
_HASHING: Final = 2
_LONG_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Hashed:
    """A file whose content has been hashed.

    Attributes:
        opened: What its head says.
        print_: Hashes of it and of its beginnings.
        file_id: Identity of its reading.
    """

    opened: Opened
    print_: Fingerprint
    file_id: str


class Lake(Protocol):
    """What is known of the files of a lake."""

    @property
    def ids(self) -> Collection[str]:
        """Identities of all of them."""

    def may_have(self, file: Opened) -> bool:
        """Tell whether there may be a file with the content of this one."""

    def sizes_of(self, file: Opened) -> Iterable[int]:
        """Sizes of files that this one may have grown from. [B]"""


def look(found: Sequence[Found], lake: Lake) -> tuple[list[Hashed], list[Unreadable]]:
    """Open and hash every file, its beginnings at the sizes of the others too.

    Args:
        found: Files that were asked for.
        lake: What is known of files.
    """
    unreadable: list[Unreadable] = []
    opened = sound(found, map(tried(open_head), found), unreadable)
    sizes = _sizes(opened)

    def hashed(one: Opened) -> Hashed:
        marks = sizes[one.kin, one.opening] | sizes[one.kin, b""]
        if lake.may_have(one):
            known = _hashed(one, marks)
            if known.file_id in lake.ids:
                return known
        return _hashed(one, marks.union(lake.sizes_of(one)))

    if not any(one.size >= _LONG_BYTES for one in opened):
        hashes = sound(opened, map(tried(hashed), opened), unreadable)
    else:
        with ThreadPoolExecutor(_HASHING) as pool:
            hashes = sound(opened, pool.map(tried(hashed), opened), unreadable)
    return hashes, sorted(unreadable)


def _hashed(one: Opened, sizes: Iterable[int]) -> Hashed:
    print_ = files.fingerprint(one.file.path, sizes)
    return Hashed(one, print_, _file_id(one, print_.sha256))


def _sizes(opened: Iterable[Opened]) -> defaultdict[tuple[Kin, bytes], set[int]]:
    sizes: defaultdict[tuple[Kin, bytes], set[int]] = defaultdict(set)
    for one in opened:
        # a file shorter than an opening may begin any of its kin
        start = one.opening if len(one.opening) == OPENING_BYTES else b""
        sizes[one.kin, start].add(one.size)
    return sizes


def _file_id(one: Opened, sha256: str) -> str:
    version = one.source.version if one.source else _catalogue()
    return files.file_id(sha256, one.family, version, _options(one))


def _catalogue() -> int:
    # a file that nobody claimed is looked at again when there is a new reader
    return sum(source.version for source in SOURCES)


def _options(one: Opened) -> dict[str, str | None]:
    file = one.file
    values: dict[str, str | None] = {
        "zone": str(file.zone),
        "run_id": f"{file.run_id_basis == 'run_card'}:{file.run_id}",
        "year": str(file.year) if file.year else None,
        "cluster": file.cluster,
        "name": one.name,
    }
    wanted: Iterable[str] = one.source.options if one.source else ()
    digest = one.source.digest if one.source else None
    more = {"digest": digest} if digest else {}
    return {option: values[option] for option in sorted(wanted)} | more
