"""Find the files that were asked for, and what the nearest run card says of each."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Literal

from ingest import run_card
from ingest._names import display, resolved
from ingest.errors import SettingError, TelemetryError
from ingest.run_card import CARD_NAME, RunCard

ZoneBasis = Literal["run_card", "option", "assumed"]
RunBasis = Literal["run_card", "option", "folder"]


@dataclass(frozen=True, slots=True)
class Options:
    """What was said on the command line or in the settings, for all files.

    Attributes:
        card: Run card for every file, instead of the nearest above each.
        run_id: Run for rows that neither a card nor the data names.
        zone: Zone of naive time stamps where no card gives one.
        cluster: Cluster where no card gives one.
    """

    card: Path | None = None
    run_id: str | None = None
    zone: tzinfo | None = None
    cluster: str = "default"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and what is known of it before it is opened."""

    path: Path
    zone: tzinfo
    zone_basis: ZoneBasis
    run_id: str
    run_id_basis: RunBasis
    cluster: str
    year: int | None


def discover(
    paths: Sequence[Path], options: Options, lake: Path | None = None
) -> list[Found]:
    """List every file under the paths, each once, in the order of their names.

    Hidden files and folders and the lake itself are passed over; a run card above a
    path, and the host map it names, are listed too, and so is what cannot be read: a
    link that leads nowhere, a pipe, a folder that may not be listed.

    Raises:
        TelemetryError: If a path matches nothing, or links lead in a circle.
        SettingError: If a run card cannot be used, or two describe one run.
    """
    cards = _Cards(options)
    home = resolved(lake) if lake else None
    found: dict[Path, Found] = {}
    for root in _expand(paths):
        folder = root if root.is_dir() else root.parent
        for path in _files(root, home):
            found.setdefault(path, cards.describe(path, folder))
    for path in cards.companions():
        found.setdefault(path, cards.describe(path, path.parent))
    return [found[path] for path in sorted(found)]


def _expand(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.exists():
            yield resolved(path)
            continue
        matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - absolute
        if not matches:
            message = f"{display(path)}: no such file or folder; check the path"
            raise TelemetryError(message)
        yield from (resolved(Path(match)) for match in matches)


def _files(root: Path, lake: Path | None) -> Iterator[Path]:
    if not root.is_dir():
        yield root
        return
    shut: list[OSError] = []
    for where, names, files in os.walk(root, onerror=shut.append):
        folder = Path(where)
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".") and (folder / name).resolve() != lake
        )
        for name in sorted(files):
            if not name.startswith("."):
                yield folder / name
    yield from (Path(error.filename) for error in shut)


class _Cards:
    """The run cards met so far, each read once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._parsed: dict[Path, RunCard] = {}
        self._nearest: dict[Path, Path | None] = {}

    def describe(self, path: Path, root: Path) -> Found:
        card_path = self._card_path(path.parent)
        card = self._read(card_path) if card_path else RunCard()
        zone, zone_basis = self._zone(card)
        run_id, run_id_basis = self._run_id(card, root)
        return Found(
            path=path,
            zone=zone,
            zone_basis=zone_basis,
            run_id=display(run_id),
            run_id_basis=run_id_basis,
            cluster=display(card.cluster or self._options.cluster),
            year=card.year,
        )

    def _zone(self, card: RunCard) -> tuple[tzinfo, ZoneBasis]:
        if card.tzinfo:
            return card.tzinfo, "run_card"
        if self._options.zone:
            return self._options.zone, "option"
        return UTC, "assumed"

    def _run_id(self, card: RunCard, root: Path) -> tuple[str, RunBasis]:
        if card.run_id:
            return card.run_id, "run_card"
        if self._options.run_id:
            return self._options.run_id, "option"
        return root.name or "root", "folder"

    def companions(self) -> list[Path]:
        maps = (run_card.map_path(card, path) for path, card in self._parsed.items())
        return [*self._parsed, *(path for path in maps if path)]

    def _card_path(self, folder: Path) -> Path | None:
        if self._options.card:
            return resolved(self._options.card)
        if folder not in self._nearest:
            here = folder / CARD_NAME
            above = folder.parent
            if here.is_file():
                self._nearest[folder] = here
            else:
                self._nearest[folder] = (
                    self._card_path(above) if above != folder else None
                )
        return self._nearest[folder]

    def _read(self, path: Path) -> RunCard:
        if path not in self._parsed:
            try:
                card = run_card.parse(path.read_bytes(), path)
            except OSError as error:
                message = f"{path}: {error.strerror}; give a run card that can be read"
                raise SettingError(message) from error
            self._refuse_rival(card, path)
            self._parsed[path] = card
        return self._parsed[path]

    def _refuse_rival(self, card: RunCard, path: Path) -> None:
        for other, known in self._parsed.items():
            if card.run_id and known.run_id == card.run_id and known != card:
                message = (
                    f"{path}: describes run {card.run_id!r} otherwise than {other};"
                    " keep one of the two"
                )
                raise SettingError(message)
