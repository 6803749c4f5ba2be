"""Look at files once: what each is, from its head."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from ingest import files, mapping
from ingest._empty import EMPTY, is_empty
from ingest._made_truth import MADE_TRUTH
from ingest._names import display, unrotated
from ingest._reading import UNRECOGNIZED
from ingest.discovery import Found
from ingest.sources import SOURCES, Head, Source
from ingest.sources._source import HEAD_BYTES

#: Bytes in which two files must agree before one is held to be the beginning of the
#: other: enough to tell the logs of two ranks apart, so that few hashes are taken. [B]
OPENING_BYTES: Final = 512

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
        is_sized: Whether that is known to be the size of the content.
        modified_ns: When it was last written. [ns]
    """

    file: Found
    name: str
    source: Source | None
    opening: bytes
    size: int
    is_sized: bool
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


def open_head(file: Found) -> Opened:
    status = files.status_of(file.path)
    head = files.head_of(file.path, file.name)
    seen = len(head.data)
    return Opened(
        file=file,
        name=unrotated(display(head.name)),
        source=_source_of(file, head),
        opening=head.data[:OPENING_BYTES],
        size=seen if seen < HEAD_BYTES else status.st_size,
        is_sized=seen < HEAD_BYTES or bool(head.tail),
        modified_ns=status.st_mtime_ns,
    )


def _source_of(file: Found, head: Head) -> Source | None:
    if is_empty(file.path, head):
        return EMPTY
    claimed = mapping.claim(head, file.mappings, files.recognize(head, SOURCES))
    is_truth = claimed is None and MADE_TRUTH.recognizes(head)
    return MADE_TRUTH if is_truth else claimed


def tried(work: Callable[[_In], _Out]) -> Callable[[_In], _Out | OSError]:
    """Return work that gives what it raises where a file cannot be opened."""

    def work_on(item: _In) -> _Out | OSError:
        try:
            return work(item)
        except OSError as error:
            return error

    return work_on


def sound(
    items: Iterable[Found | Opened],
    done: Iterable[_Out | OSError],
    unreadable: list[Unreadable],
) -> list[_Out]:
    """Return what was done, in order; tell of the items where it could not be."""
    fine: list[_Out] = []
    for item, one in zip(items, done, strict=True):
        if isinstance(one, OSError):
            file = item.file if isinstance(item, Opened) else item
            unreadable.append((file.shown, one.strerror or str(one)))
        else:
            fine.append(one)
    return fine
