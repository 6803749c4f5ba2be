"""Run cards in archives, and the members that they tell of."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from posixpath import normpath
from typing import Final

from ingest import run_card
from ingest._cards import Cards, described
from ingest._found import Found, Options
from ingest.errors import SettingError
from ingest.run_card import CARD_NAME, RunCard

#: Longest run card that is read; a long one has two kilobytes. [B]
_MOST_BYTES: Final = 1 << 20


class MemberCards:
    """The run cards of an archive, by the folder that they are in."""

    def __init__(
        self, options: Options, cards: Cards, archive: Found, members: Iterable[Found]
    ) -> None:
        """Read the cards among the members.

        Raises:
            SettingError: If one cannot be used, or describes a run otherwise than
                another does.
        """
        self._options = options
        self._archive = archive
        self._cards: dict[str, RunCard] = {}
        shown = {member.shown: member for member in members}
        for name, member in shown.items():
            folder, _, base = name.rpartition("/")
            if base == CARD_NAME and not options.card:
                card = _parse(member)
                _refuse_lost_map(card, name, folder, shown)
                cards.add(card, Path(name))
                self._cards[folder] = card

    def described(self, member: Found) -> Found:
        """Tell what the nearest card in the archive says of a member.

        Where there is none, that is what is known of the archive.
        """
        card = self._nearest(member.shown)
        if card is None:
            return member
        folder = self._archive.run_id
        said = described(member.path, card, self._options, folder)
        return replace(
            member,
            zone=said.zone,
            zone_basis=said.zone_basis,
            run_id=said.run_id,
            run_id_basis=said.run_id_basis,
            cluster=said.cluster,
            year=said.year,
        )

    def _nearest(self, shown: str) -> RunCard | None:
        folder = shown.rpartition("/")[0]
        while len(folder) > len(self._archive.shown):
            if folder in self._cards:
                return self._cards[folder]
            folder = folder.rpartition("/")[0]
        return None


def _parse(member: Found) -> RunCard:
    with member.path.open("rb") as file:
        return run_card.parse(file.read(_MOST_BYTES), member.shown)


def _refuse_lost_map(
    card: RunCard, name: str, folder: str, shown: Iterable[str]
) -> None:
    if card.hosts and normpath(f"{folder}/{card.hosts.map}") not in shown:
        message = (
            f"{name}: hosts.map: expected a file in the archive, found"
            f" {card.hosts.map!r}; pack the map beside the card"
        )
        raise SettingError(message)
