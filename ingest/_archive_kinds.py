"""What is an archive, by its first bytes."""

from pathlib import Path
from typing import Final, Literal

from ingest._archive_tar_header import BLOCK, is_header
from ingest._expanded import ExpandedFile

Kind = Literal["zip", "tar"]

#: What a zip archive starts with, and what one without members is. An archive behind
#: something else, such as a program that unpacks itself, is that something.
_ZIP_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")


def kind_of(path: Path) -> Kind | None:
    """Return what kind of archive a file is, in whatever envelope; None where none.

    Raises:
        OSError: If there is no such file, or none that may be read.
    """
    with ExpandedFile(path) as file:
        start = file.read(BLOCK)
    if start.startswith(_ZIP_MAGIC):
        return "zip"
    return "tar" if len(start) == BLOCK and is_header(start) else None
