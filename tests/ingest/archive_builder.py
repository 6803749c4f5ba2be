"""Archives for tests, honest and otherwise."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ingest.archives import Limits, Unpacked, unpacked
from ingest.discovery import Found, Options, discover

#: When members were written. [s]
MODIFIED = 1_741_000_000


def tar(*members: tuple[str, bytes] | tarfile.TarInfo, pax: bool = True) -> bytes:
    """Return an archive of files by name, and of members without content."""
    sink = io.BytesIO()
    kind = tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT
    with tarfile.open(fileobj=sink, mode="w", format=kind) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, data = member
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), MODIFIED
            archive.addfile(info, io.BytesIO(data))
    return sink.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return a member that is no regular file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zipped(
    files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED, mode: int = 0
) -> bytes:
    """Return an archive of files by name."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2025, 3, 4, 12, 0, 0))
            info.external_attr = mode << 16
            archive.writestr(info, data, method)
    return sink.getvalue()


@contextmanager
def opened(
    folder: Path,
    archives: Mapping[str, bytes] | None = None,
    options: Options | None = None,
    limits: Limits | None = None,
) -> Iterator[Unpacked]:
    """Write archives to a folder, find what is there, and unpack it."""
    inbox, lake = folder / "in", folder / "lake"
    for made in (inbox, lake):
        made.mkdir(exist_ok=True)
    for name, data in (archives or {}).items():
        (inbox / name).write_bytes(data)
    said = options or Options()
    with unpacked(discover([inbox], said, lake), said, lake, limits) as inside:
        yield inside


def content(found: Iterable[Found]) -> dict[str, bytes]:
    """Return the bytes of files by what is shown of their path inside the archive."""
    return {
        file.shown.partition("!/")[2] or file.name: file.path.read_bytes()
        for file in found
    }


def reasons(inside: Unpacked) -> dict[str, str]:
    """Return why things were not unpacked, by name."""
    return {
        shown.partition("!/")[2] or Path(shown).name: reason
        for shown, reason in inside.unread
    }
