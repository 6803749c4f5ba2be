"""Lines of raw files found again, drawn line by line."""

import gzip
import hashlib
from pathlib import Path

import pytest

from ingest.quoting import Quotes, Wanted, quote
from ingest.quoting_rows import quote_rows

LOST = "NVRM: Xid (PCI:0000:5d:00): 79, pid=7, GPU has fallen off the bus."
UUID = "GPU-8005cff4-776a-43cd-adb7-163fd367af01"
AFTER = "NVRM: Xid (PCI:0000:19:00): 45, pid=8"

LOG = (
    "10:00:00 b kernel: sshd: nothing",
    f"10:00:01 b kernel: NVRM: GPU at PCI:0000:5d:00: {UUID}",
    "10:00:01 b kernel: NVRM: GPU Board Serial Number: 1652836155019",
    f"10:00:01 b kernel: {LOST}",
    "10:00:01 b kernel: NVRM: GPU 0000:5d:00.0: GPU has fallen off the bus.",
    f"10:00:02 b kernel: {AFTER}",
    f"11:30:00 b kernel: {AFTER}",
)


def written(folder: Path, *, packed: bool = False) -> tuple[str, str, int]:
    """Path, hash and size of the log."""
    content = ("\n".join(LOG) + "\n").encode()
    path = folder / ("kern.log.gz" if packed else "kern.log")
    path.write_bytes(gzip.compress(content) if packed else content)
    return str(path), hashlib.sha256(content).hexdigest(), len(content)


def wanted(message: str, *positions: int, total: int, is_root: bool = False) -> Wanted:
    return Wanted(message, frozenset(positions), total, is_root)


def numbers(quotes: Quotes) -> list[int]:
    return [line.number for line in quotes.lines]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_come_with_what_names_their_gpu(tmp_path: Path, *, packed: bool) -> None:
    quotes = quote(
        *written(tmp_path, packed=packed), [wanted(LOST, 0, total=1, is_root=True)]
    )
    assert numbers(quotes) == [2, 3, 4, 5]
    assert quotes.lines[2].text == LOG[3]
    assert (quotes.serial, quotes.fault) == ("1652836155019", "")


def test_of_lines_alike_only_those_meant_are_quoted(tmp_path: Path) -> None:
    quotes = quote(*written(tmp_path), [wanted(AFTER, 0, total=2)])
    assert numbers(quotes) == [6]
    assert quotes.serial == ""


def test_where_it_is_not_sure_which_is_meant_none_is_quoted(tmp_path: Path) -> None:
    # the lake has three rows with this message, the file two lines
    none = quote(*written(tmp_path), [wanted(AFTER, 0, total=3)])
    assert none == Quotes(fault="lines alike could not be told apart")
    # a message that was put together from fields is no line, and no fault
    assert quote(*written(tmp_path), [wanted("GPU: lost", 0, total=1)]) == Quotes()
    # all rows are meant: then all lines are
    found = quote(*written(tmp_path), [wanted(AFTER, 0, 1, 2, total=3)])
    assert numbers(found) == [6, 7]


def test_a_file_that_has_grown_is_still_the_one_that_was_read(tmp_path: Path) -> None:
    path, sha256, size = written(tmp_path)
    with Path(path).open("a") as file:
        file.write(f"12:00:00 b kernel: {AFTER}\n")
    assert numbers(quote(path, sha256, size, [wanted(AFTER, 0, 1, total=2)])) == [6, 7]


def test_what_cannot_be_quoted_says_why(tmp_path: Path) -> None:
    path, sha256, size = written(tmp_path)
    one = [wanted(LOST, 0, total=1)]
    assert quote(f"{path}!/kern.log", sha256, size, one).fault == (
        "it is inside an archive"
    )
    assert quote(f"{path}.gone", sha256, size, one).fault == (
        "it is no longer where it was read from"
    )
    Path(path).write_text("x" * size)
    assert quote(path, sha256, size, one) == Quotes(
        fault="it has changed since it was read"
    )


LIST = (
    "start,planned,category,cause,host",
    "2026-03-01 22:46Z,no,GPU,fell off the bus,n[1-2]",
    "2026-03-02 22:46Z,no,GPU,fell off the bus,",
    "2026-03-03 22:46Z,no,GPU,other cause,n1",
)


def test_of_a_table_the_row_that_a_message_was_made_from_is_quoted(
    tmp_path: Path,
) -> None:
    content = ("\n".join(LIST) + "\n").encode()
    path = tmp_path / "stops.csv"
    path.write_bytes(content)

    def found(*positions: int, total: int) -> Quotes:
        one = [wanted("GPU: fell off the bus", *positions, total=total)]
        place = str(path), "interruption-list", len(content)
        return quote_rows(*place, one, Quotes(fault="none"))

    # two nodes of one row, then one without a node
    assert numbers(found(0, 1, total=3)) == [1, 2]
    assert [line.text for line in found(2, total=3).lines] == [LIST[0], LIST[2]]
    # where the file has another number of such rows, none is sure
    assert found(0, total=2) == Quotes(fault="none")
