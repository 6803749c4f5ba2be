"""The run card itself: `run.toml`, kept beside the telemetry that it explains."""

import tomllib
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest import run_card
from ingest.errors import SettingError, UnreadableFileError
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import RunCards, Table

#: Tables of a card by which one is known where the file has another name.
_TABLES: Final = frozenset({"hardware", "layout", "training", "price", "hosts"})


def recognizes(head: Head) -> bool:
    """Tell a run card: its name, or TOML that has a run_id and a card's tables."""
    if head.name == run_card.CARD_NAME:
        return True
    try:
        content = tomllib.loads(head.text)
    except (ValueError, RecursionError):
        # not TOML, or with a number too long or lists too deep to be read
        return False
    return "run_id" in content and not _TABLES.isdisjoint(content)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read one card.

    Raises:
        UnreadableFileError: If it has a field or a value that it may not have.
    """
    try:
        data = stream.read()
        card = run_card.parse(data, reading.path)
    except SettingError as error:
        expected = "a run card"
        raise UnreadableFileError(reading.path, "file", expected, str(error)) from error
    row = run_card.row_of(card, reading.run_id, reading.cluster)
    frame = pl.DataFrame([row], schema=RunCards.create_empty().schema)
    rows: dict[type[Table], pl.DataFrame] = {RunCards: frame.drop("file_id")}
    yield Batch(rows, records=1, repairs=int(data.endswith(b"\0")))


SOURCE: Final = Source(
    name="run-card",
    version=3,
    describes="run card: layout, price, zone and host map of a run (run.toml)",
    tables=(RunCards,),
    options=frozenset({"run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
