"""What a file is by its first bytes, where it is no text."""

import re
from dataclasses import dataclass
from typing import Final

from ingest.sources import Head

#: First bytes of files that are no telemetry, or none in this form.
_MAGIC: Final = (
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "an ELF program or core dump"),
    (b"MZ", "a Windows program"),
    (b"\xfe\xed\xfa", "a Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\xca\xfe\xba\xbe", "Java or Mach-O code"),
    (b"\0asm", "WebAssembly"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x1f\x8b", "gzip inside another envelope"),
    (b"\x28\xb5\x2f\xfd", "zstd inside another envelope"),
    (b"BZh", "bzip2 inside another envelope"),
    (b"\xfd7zXZ\0", "xz inside another envelope"),
    (b"\x04\x22\x4d\x18", "an LZ4 envelope"),
    (b"ARROW1", "an Arrow file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"LPKSHHRH", "a journal of systemd; journalctl -o json writes it as text"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
)
_SQLITE: Final = b"SQLite format 3\0"
_PARQUET: Final = b"PAR1"

#: A pickle of a protocol with a header: what its first two bytes are.
_PICKLE: Final = re.compile(rb"\x80[\x02-\x05]")
_CREATED: Final = re.compile(
    rb"CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?[\"'`\[]?([A-Za-z0-9_]{1,60})"
)
#: Share of control characters from which a file is held to be no text. Prose has none.
_BINARY_SHARE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file looks like.

    Attributes:
        what: In words.
        names: Names of its columns or keys.
        of: What the names are of, in words.
        remedy: What to do to have it read, where that is known.
    """

    what: str
    names: tuple[str, ...] = ()
    of: str = ""
    remedy: str = ""


def of_bytes(head: Head) -> Kind | None:
    """Return what a file is that is no text; None where it may be text."""
    data = head.data
    if data.startswith((_PARQUET, _SQLITE)):
        return _of_tables(head)
    for magic, what in _MAGIC:
        if data.startswith(magic):
            return Kind(what)
    if data[257:262] == b"ustar":
        return Kind("a tar archive")
    if _PICKLE.match(data):
        return Kind("a Python pickle")
    return Kind("binary data") if _is_binary(head.text) else None


def _of_tables(head: Head) -> Kind:
    if head.data.startswith(_SQLITE):
        found = dict.fromkeys(m.decode() for m in _CREATED.findall(head.data))
        return Kind("SQLite", tuple(found), "the tables")
    if head.columns:
        return Kind("Parquet", head.columns, "the columns")
    return Kind("Parquet whose columns cannot be read here")


def _is_binary(text: str) -> bool:
    odd = sum(c == "\ufffd" or (c < " " and c not in "\t\n\r\f\v\x1b") for c in text)
    return odd > _BINARY_SHARE * len(text)
