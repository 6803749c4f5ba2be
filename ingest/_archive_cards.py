"""Run cards and mappings in archives, and the members that they tell of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import normpath
from typing import Final, TypeVar

from ingest import _mapping_card, mapping, run_card
from ingest._cards import Cards, described
from ingest._found import Found, Options
from ingest._names import resolved
from ingest.errors import SettingError
from ingest.mapping import MAPPING_NAME
from ingest.run_card import CARD_NAME, RunCard

#: Longest card that is read; a long one has a few kilobytes. [B]
_MOST_BYTES: Final = 1 << 20

_T = TypeVar("_T")


class MemberCards:
    """The run cards and the mappings of an archive, by the folder that they are in."""

    def __init__(
        self, options: Options, cards: Cards, archive: Found, members: Sequence[Found]
    ) -> None:
        """Read those among the members.

        Raises:
            SettingError: If one cannot be used, or describes a run otherwise than
                another does.
        """
        self._options = options
        self._archive = archive
        self._members = members
        self._cards: dict[str, RunCard] = {}
        self._mappings: dict[str, mapping.Mapping] = {}
        for member in members:
            if member.name == CARD_NAME and not options.card:
                self._add_card(member, cards)
            elif member.name == MAPPING_NAME:
                self._add_mapping(member)

    def files(self) -> Iterator[Found]:
        """Yield the members but the mappings, with what the nearest cards say."""
        used = {f"{folder}/{MAPPING_NAME}" for folder in self._mappings}
        for member in self._members:
            if member.shown not in used:
                yield self._mapped(self._described(member))

    def _add_card(self, member: Found, cards: Cards) -> None:
        card = run_card.parse(_start_of(member), member.shown)
        folder = _folder(member)
        _refuse_lost_map(card, folder, {one.shown for one in self._members})
        cards.add(card, Path(member.shown))
        self._cards[folder] = card

    def _add_mapping(self, member: Found) -> None:
        data = _start_of(member)
        if _mapping_card.is_card(data):
            self._mappings[_folder(member)] = mapping.parse(data, member.shown)

    def _described(self, member: Found) -> Found:
        card = self._nearest(member, self._cards)
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

    def _mapped(self, member: Found) -> Found:
        nearest = self._nearest(member, self._mappings)
        if nearest is None:
            return member
        given = len({resolved(path) for path in self._options.mappings})
        first = self._archive.mappings[:given]
        return replace(member, mappings=tuple(dict.fromkeys((*first, nearest))))

    def _nearest(self, member: Found, by_folder: Mapping[str, _T]) -> _T | None:
        folder = _folder(member)
        while len(folder) > len(self._archive.shown):
            if folder in by_folder:
                return by_folder[folder]
            folder = folder.rpartition("/")[0]
        return None


def _folder(member: Found) -> str:
    return member.shown.rpartition("/")[0]


def _start_of(member: Found) -> bytes:
    with member.path.open("rb") as file:
        return file.read(_MOST_BYTES)


def _refuse_lost_map(card: RunCard, folder: str, shown: Iterable[str]) -> None:
    if card.hosts and normpath(f"{folder}/{card.hosts.map}") not in shown:
        message = (
            f"{folder}/{CARD_NAME}: hosts.map: expected a file in the archive, found"
            f" {card.hosts.map!r}; pack the map beside the card"
        )
        raise SettingError(message)
