"""Look at files once: what each is, and the hash of it and of its beginnings."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from ingest import files, mapping
from ingest._empty import EMPTY, is_empty
from ingest._names import display, unrotated
from ingest._reading import UNRECOGNIZED
from ingest.discovery import Found
from ingest.files import Fingerprint
from ingest.sources import SOURCES, Head, Source
from ingest.sources._source import HEAD_BYTES

#: Bytes in which two files must agree before one is held to be the beginning of the
#: other: enough to tell the logs of two ranks apart, so that few hashes are taken. [B]
OPENING_BYTES: Final = 512

#: Files that are hashed at once where one is long, and from where on one is: small ones
#: are hashed before another thread would have begun. [1, B]
_HASHING: Final = 2
_LONG_BYTES: Final = 1 << 20

#: What a file shares with those that it may have grown from: source and run.
Kin = tuple[str, str | None]

#: Why a file could not be opened, after its path.
Unreadable = tuple[str, str]

_In = TypeVar("_In", bound="Found | Opened")
_Out = TypeVar("_Out")


@dataclass(frozen=True, slots=True)
class Opened:
    """A file whose head has been seen.

    Attributes:
        file: What is known of it before it is opened.
        name: Its name without the ending of an envelope and that of a rotation.
        source: Source that claims it.
        opening: The first bytes of its expanded content.
        size: Size of its expanded content; on disk where it is a long gzip file. [B]
        modified_ns: When it was last written. [ns]
    """

    file: Found
    name: str
    source: Source | None
    opening: bytes
    size: int
    modified_ns: int

    @property
    def path(self) -> str:
        """Its path as text that can be stored."""
        return self.file.shown

    @property
    def family(self) -> str:
        """Name of the source that claims it."""
        return self.source.name if self.source else UNRECOGNIZED

    @property
    def says(self) -> str:
        """What its name tells its source (a host, a rank): nothing of most sources."""
        is_read = self.source is not None and "name" in self.source.options
        return self.name if is_read else ""

    @property
    def kin(self) -> Kin:
        """What it shares with the files that it may have grown from."""
        return self.family, self.file.run_id


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


def look(
    found: Sequence[Found], sizes_of: Callable[[Opened], Iterable[int]]
) -> tuple[list[Hashed], list[Unreadable]]:
    """Open and hash every file, its beginnings at the sizes of the others too.

    Args:
        found: Files that were asked for.
        sizes_of: Sizes of known files that a file may have grown from. [B]
    """
    unreadable: list[Unreadable] = []
    opened = _sound(found, map(_tried(_open), found), unreadable)
    sizes = _sizes(opened)

    def hashed(one: Opened) -> Hashed:
        marks = sizes[one.kin, one.opening] | sizes[one.kin, b""]
        print_ = files.fingerprint(one.file.path, marks.union(sizes_of(one)))
        return Hashed(one, print_, _file_id(one, print_.sha256))

    if not any(one.size >= _LONG_BYTES for one in opened):
        hashes = _sound(opened, map(_tried(hashed), opened), unreadable)
    else:
        with ThreadPoolExecutor(_HASHING) as pool:
            hashes = _sound(opened, pool.map(_tried(hashed), opened), unreadable)
    return hashes, sorted(unreadable)


def _tried(work: Callable[[_In], _Out]) -> Callable[[_In], _Out | OSError]:
    """Return work that gives what it raises where a file cannot be opened."""

    def tried(item: _In) -> _Out | OSError:
        try:
            return work(item)
        except OSError as error:
            return error

    return tried


def _sound(
    items: Iterable[Found | Opened],
    done: Iterable[_Out | OSError],
    unreadable: list[Unreadable],
) -> list[_Out]:
    """Return what was done, in order; tell of the items where it could not be."""
    sound: list[_Out] = []
    for item, one in zip(items, done, strict=True):
        if isinstance(one, OSError):
            file = item.file if isinstance(item, Opened) else item
            unreadable.append((file.shown, one.strerror or str(one)))
        else:
            sound.append(one)
    return sound


def _open(file: Found) -> Opened:
    status = files.status_of(file.path)
    head = files.head_of(file.path, file.name)
    seen = len(head.data)
    return Opened(
        file=file,
        name=unrotated(display(head.name)),
        source=_source_of(file, head),
        opening=head.data[:OPENING_BYTES],
        size=seen if seen < HEAD_BYTES else status.st_size,
        modified_ns=status.st_mtime_ns,
    )


def _source_of(file: Found, head: Head) -> Source | None:
    if is_empty(file.path, head):
        return EMPTY
    return mapping.claim(head, file.mappings, files.recognize(head, SOURCES))


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
