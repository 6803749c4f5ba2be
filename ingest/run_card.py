"""The run card: what raw telemetry does not say, in `run.toml`."""

from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

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
    _check_layout(card, path)
    if card.billing == "reserved" and card.reserved_gpus is None:
        message = f"{path}: billing is reserved: expected reserved_gpus; add how many"
        raise SettingError(message)
    return card


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _check_layout(card: RunCard, path: Path | str) -> None:
    layout = card.layout
    if layout is None:
        return
    if sorted(layout.order) != ["cp", "dp", "pp", "tp"]:
        message = f"{path}: layout.order: expected each of tp, cp, pp and dp once"
        raise SettingError(message)
    gpus = card.hardware.gpus
    if gpus is not None and layout.ranks > gpus:
        message = (
            f"{path}: the layout tp*cp*pp*dp needs {layout.ranks} ranks, but"
            f" hardware.gpus is {gpus}; correct one of them"
        )
        raise SettingError(message)


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
