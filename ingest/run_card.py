"""The run card: what raw telemetry does not say, in `run.toml`."""

from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal

import msgspec

from ingest._card_identities import contradiction
from ingest.card_parts import (
    CheckpointPlan,
    Fabric,
    Hardware,
    Hosts,
    Layout,
    Positive,
    PowerLimits,
    Pricing,
    Reliability,
    Training,
    Word,
)
from ingest.errors import SettingError
from ingest.times import parse_zone

#: Name of the file that holds a run card.
CARD_NAME: Final = "run.toml"

#: Parts of a card with numbers, and what their fields' names begin with in the table.
_PARTS: Final[Mapping[str, tuple[type[msgspec.Struct], str]]] = MappingProxyType(
    {
        "hardware": (Hardware, ""),
        "layout": (Layout, ""),
        "training": (Training, ""),
        "price": (Pricing, ""),
        "fabric": (Fabric, "fabric_"),
        "checkpoints": (CheckpointPlan, "checkpoint_"),
        "reliability": (Reliability, "reliability_"),
        "power": (PowerLimits, "power_"),
    }
)

#: Field of a card by the column of its row.
FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        prefix + field: f"{name}.{field}"
        for name, (part, prefix) in _PARTS.items()
        for field in part.__struct_fields__
    }
)


class RunCard(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A run card as it was written; every field may be left out."""

    run_id: Word | None = None
    cluster: Word | None = None
    model: str | None = None
    zone: Word | None = None
    year: Annotated[int, msgspec.Meta(ge=1970, le=2261)] | None = None
    billing: Literal["allocated", "reserved"] = "allocated"
    reserved_gpus: Positive | None = None
    jobs: tuple[Word, ...] = ()
    hardware: Hardware = Hardware()
    layout: Layout | None = None
    training: Training = Training()
    price: Pricing = Pricing()
    fabric: Fabric = Fabric()
    checkpoints: CheckpointPlan = CheckpointPlan()
    reliability: Reliability = Reliability()
    power: PowerLimits = PowerLimits()
    hosts: Hosts | None = None

    @property
    def tzinfo(self) -> tzinfo | None:
        """Zone of naive time stamps, where the card gives one."""
        return parse_zone(self.zone) if self.zone else None


def parse(data: bytes, path: Path | str) -> RunCard:
    """Read a run card.

    Args:
        data: Content of the file.
        path: Its name, for messages.

    Raises:
        SettingError: If it is not TOML, or has a field or a value it may not have.
    """
    # editors put a byte order mark there, and shared file systems NUL bytes
    text = data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\0")
    try:
        card = msgspec.toml.decode(text, type=RunCard)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        message = f"{path}: not a run card: {_one_line(error)}; correct the file"
        raise SettingError(message) from error
    try:
        _ = card.tzinfo
    except SettingError as error:
        message = f"{path}: {error}"
        raise SettingError(message) from error
    found = contradiction(row_of(card, "", ""))
    if found:
        message = f"{path}: {found}"
        raise SettingError(message)
    if card.billing == "reserved" and card.reserved_gpus is None:
        message = f"{path}: billing is reserved: expected reserved_gpus; add how many"
        raise SettingError(message)
    return card


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def row_of(card: RunCard, run_id: str, cluster: str) -> dict[str, object]:
    """Return a card's row of `run_cards`, without the file that it was read from.

    Args:
        card: The card.
        run_id: Run of a card that names none.
        cluster: Cluster of a card that names none.
    """
    row: dict[str, object] = dict.fromkeys(FIELDS)
    for name, (_, prefix) in _PARTS.items():
        part = getattr(card, name)
        fields = msgspec.structs.asdict(part) if part is not None else {}
        row |= {prefix + field: value for field, value in fields.items()}
    row["price_mode"] = row.pop("mode")
    order = row.pop("order")
    row["rank_order"] = ",".join(order) if isinstance(order, tuple) else None
    return row | {
        "run_id": card.run_id or run_id,
        "cluster": card.cluster or cluster,
        "model": card.model,
        "zone": card.zone,
        "year": card.year,
        "billing": card.billing,
        "reserved_gpus": card.reserved_gpus,
        "job_ids": ",".join(card.jobs) or None,
    }


def map_path(card: RunCard, card_path: Path) -> Path | None:
    """Return the host map that a card names, which must lie in the card's folder.

    Raises:
        SettingError: If the name leads out of the folder or to no file.
    """
    if card.hosts is None:
        return None
    folder = card_path.resolve().parent
    path = _file_inside(folder, card.hosts.map)
    if path is None:
        message = (
            f"{card_path}: hosts.map: expected a file inside {folder}, found"
            f" {card.hosts.map!r}; put the map beside the card"
        )
        raise SettingError(message)
    return path


def _file_inside(folder: Path, name: str) -> Path | None:
    try:
        path = (folder / name).resolve()
        is_there = path.is_relative_to(folder) and path.is_file()
    except (OSError, ValueError, RuntimeError):
        # a NUL, a name that is too long, or links that lead in a circle
        return None
    return path if is_there else None
