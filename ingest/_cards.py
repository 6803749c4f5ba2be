"""Run cards, and what the nearest one says of a file."""

from datetime import UTC, tzinfo
from pathlib import Path

from ingest import run_card
from ingest._found import Found, Options, RunBasis, ZoneBasis
from ingest._names import display, resolved
from ingest.errors import SettingError
from ingest.run_card import CARD_NAME, RunCard


def described(path: Path, card: RunCard, options: Options, folder: str) -> Found:
    """Tell what a card and the options say of a file.

    Args:
        path: The file.
        card: The nearest card; one that says nothing where there is none.
        options: What was said for all files.
        folder: Name of the folder that was asked for.
    """
    zone, zone_basis = _zone(card, options)
    run_id, run_id_basis = _run_id(card, options, folder)
    return Found(
        path=path,
        zone=zone,
        zone_basis=zone_basis,
        run_id=display(run_id),
        run_id_basis=run_id_basis,
        cluster=display(card.cluster or options.cluster),
        year=card.year,
    )


def _zone(card: RunCard, options: Options) -> tuple[tzinfo, ZoneBasis]:
    if card.tzinfo:
        return card.tzinfo, "run_card"
    if options.zone:
        return options.zone, "option"
    return UTC, "assumed"


def _run_id(card: RunCard, options: Options, folder: str) -> tuple[str, RunBasis]:
    if card.run_id:
        return card.run_id, "run_card"
    if options.run_id:
        return options.run_id, "option"
    return folder, "folder"


class Cards:
    """The run cards met so far, each read once."""

    def __init__(self, options: Options) -> None:
        """Start without any card."""
        self._options = options
        self._parsed: dict[Path, RunCard] = {}
        self._nearest: dict[Path, Path | None] = {}

    def describe(self, path: Path, root: Path) -> Found:
        """Tell what is known of a file.

        Args:
            path: The file.
            root: Folder that was asked for.

        Raises:
            SettingError: If its run card cannot be used.
        """
        card_path = self._card_path(path.parent)
        card = self.read(card_path) if card_path else RunCard()
        return described(path, card, self._options, root.name or "root")

    def companions(self) -> list[Path]:
        """Return the cards, and the host maps that they name.

        Raises:
            SettingError: If a map is missing.
        """
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

    def read(self, path: Path) -> RunCard:
        """Read a card, once.

        Raises:
            SettingError: If it cannot be used.
        """
        if path not in self._parsed:
            try:
                card = run_card.parse(path.read_bytes(), path)
            except OSError as error:
                message = f"{path}: {error.strerror}; give a run card that can be read"
                raise SettingError(message) from error
            self.add(card, path)
        return self._parsed[path]

    def add(self, card: RunCard, path: Path) -> None:
        """Add a card that was read.

        Raises:
            SettingError: If another describes its run otherwise.
        """
        self._refuse_rival(card, path)
        self._parsed[path] = card

    def _refuse_rival(self, card: RunCard, path: Path) -> None:
        for other, known in self._parsed.items():
            if card.run_id and known.run_id == card.run_id and known != card:
                message = (
                    f"{path}: describes run {card.run_id!r} otherwise than {other};"
                    " keep one of the two"
                )
                raise SettingError(message)
