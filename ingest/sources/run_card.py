"""The run card itself: `run.toml`, kept beside the telemetry that it explains."""

import tomllib
from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec
import polars as pl

from ingest import run_card
from ingest.errors import SettingError, UnreadableFileError
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import RunCards, Table

#: Tables of a card by which one is known where the file has another name.
_TABLES: Final = frozenset({"hardware", "layout", "training", "price", "hosts"})

#: Parts of a card whose fields carry the part's name in the table, too.
_PREFIXED: Final = {
    "fabric": "fabric_",
    "checkpoints": "checkpoint_",
    "reliability": "reliability_",
    "power": "power_",
}


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
    row = _row(card, reading)
    frame = pl.DataFrame([row], schema=RunCards.create_empty().schema)
    rows: dict[type[Table], pl.DataFrame] = {RunCards: frame.drop("file_id")}
    yield Batch(rows, records=1, repairs=int(data.endswith(b"\0")))


def _row(card: run_card.RunCard, reading: Reading) -> dict[str, object]:
    layout = card.layout
    row: dict[str, object] = dict.fromkeys(RunCards.column_names())
    for part in (card.hardware, card.training, layout):
        row |= msgspec.structs.asdict(part) if part is not None else {}
    for part_name, prefix in _PREFIXED.items():
        fields = msgspec.structs.asdict(getattr(card, part_name))
        row |= {prefix + name: value for name, value in fields.items()}
    order = ",".join(layout.order) if layout else None
    price = msgspec.structs.asdict(card.price)
    row |= price | {"price_mode": price["mode"], "rank_order": order}
    row |= {
        "run_id": card.run_id or reading.run_id,
        "cluster": card.cluster or reading.cluster,
        "model": card.model,
        "zone": card.zone,
        "year": card.year,
        "billing": card.billing,
        "reserved_gpus": card.reserved_gpus,
        "job_ids": ",".join(card.jobs) or None,
    }
    return {name: row[name] for name in RunCards.column_names()}


SOURCE: Final = Source(
    name="run-card",
    version=2,
    describes="run card: layout, price, zone and host map of a run (run.toml)",
    tables=(RunCards,),
    options=frozenset({"run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
)
