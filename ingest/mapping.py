"""The mapping: how a table that no source knows becomes rows, in `mapping.toml`.

A mapping is data, not code: which field of a CSV, JSON or Parquet file fills which
column of which table, in which unit and zone. Units are converted and never guessed. A
mapping that names an unknown table, column or unit is refused before anything is read.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from ingest import _mapping_card
from ingest._mapping_card import Card
from ingest._mapping_claims import is_meant, missing, shape_of, together
from ingest._mapping_plan import Plan, plan_of
from ingest._mapping_reading import read
from ingest._names import display
from ingest.errors import SettingError
from ingest.sources import Head, Source

#: Name of the file that applies to what lies beside and below it.
MAPPING_NAME: Final = "mapping.toml"

#: What the source of a mapped file starts with.
PREFIX: Final = "mapping:"

#: Raised when the same mapping gives other rows.
VERSION: Final = 2

#: Source that no pattern of a mapping takes a file from: what says which run it is.
_OWN: Final = "run-card"

#: Characters of a mapping's name that are kept.
_NAME_CHARACTERS: Final = 60

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """A mapping that was checked.

    Attributes:
        name: Its name, of letters that are safe anywhere.
        path: Where it is.
        digest: Hash of what it says.
        plans: What it makes of files.
    """

    name: str
    path: str
    digest: str
    plans: tuple[Plan, ...]


def load(path: Path) -> Mapping:
    """Read a mapping from a file.

    Raises:
        SettingError: If it cannot be read or used.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path}: {error.strerror}; give a mapping that can be read"
        raise SettingError(message) from error
    return parse(data, path)


def parse(data: bytes, path: Path | str) -> Mapping:
    """Read a mapping.

    Args:
        data: Content of the file.
        path: Its name, for messages.

    Raises:
        SettingError: If it is not TOML, has a key that it may not have, or names what
            is not there.
    """
    return checked(_mapping_card.decode(data, path), path)


def checked(card: Card, path: Path | str) -> Mapping:
    """Check what a mapping says against the tables.

    Raises:
        SettingError: If it names what is not there, or leaves out what is needed.
    """
    plans: list[Plan] = []
    for number, one in enumerate(card.map, 1):
        try:
            plan = plan_of(one, card.zone)
            _refuse_nameless(plan)
        except SettingError as error:
            message = f"{path}: map {number}: {error}"
            raise SettingError(message) from error
        plans.append(plan)
    said = hashlib.sha256(msgspec.json.encode(card)).hexdigest()
    return Mapping(_safe(card.name or Path(path).stem), str(path), said, tuple(plans))


def is_mapping(path: Path) -> bool:
    """Return whether a file that is called as a mapping is meant as one."""
    try:
        return _mapping_card.is_card(path.read_bytes())
    except OSError:
        return True


def claim(
    head: Head, mappings: Sequence[Mapping], source: Source | None
) -> Source | None:
    """Return who reads a file: a mapping that names it, its source, or any mapping.

    Args:
        head: Start of the file.
        mappings: Mappings that apply to it, the nearest first.
        source: Source that recognizes it.
    """
    if source is not None and source.name == _OWN:
        return source
    for mapping in mappings:
        if named := [plan for plan in mapping.plans if is_meant(plan, head)]:
            return _source(mapping, named, head)
    if source is not None:
        return source
    for mapping in mappings:
        free = [p for p in mapping.plans if not p.patterns and not missing(p, head)]
        if free:
            return _source(mapping, free, head)
    return None


def nearly(head: Head, mappings: Sequence[Mapping]) -> str:
    """Return what mappings miss in a file that they might take; empty where none."""
    for mapping in mappings:
        for plan in mapping.plans:
            lacks = missing(plan, head)
            if not plan.patterns and 0 < len(lacks) < len(plan.needed):
                told = f"mapping {mapping.name} ({_file(mapping)})"
                return f"{told} needs also {', '.join(lacks)}"
    return ""


def _source(mapping: Mapping, plans: Sequence[Plan], head: Head) -> Source:
    alike = together(plans, head)
    shape = shape_of(alike[0], head)
    read_as = partial(read, plans=alike, shape=shape, file=_file(mapping))
    return Source(
        name=f"{PREFIX}{mapping.name}",
        version=VERSION,
        describes=f"what {mapping.path} says",
        tables=tuple(dict.fromkeys(plan.table for plan in alike)),
        options=frozenset({"zone", "run_id", "cluster"}),
        recognizes=_never,
        read=read_as,
        digest=mapping.digest,
    )


def _file(mapping: Mapping) -> str:
    return display(Path(mapping.path).name)


def _never(_: Head) -> bool:
    return False


def _refuse_nameless(plan: Plan) -> None:
    is_known = plan.needed and plan.layout.header is True
    if not (plan.patterns or is_known):
        message = (
            "files: what has no header, or needs no field, is known by its name only;"
            ' give a pattern, as in files = "steps-*.csv"'
        )
        raise SettingError(message)


def _safe(name: str) -> str:
    kept = _UNSAFE.sub("-", name)[:_NAME_CHARACTERS].strip("-.")
    return kept or "mapping"


__all__ = ["MAPPING_NAME", "PREFIX", "Mapping", "claim", "is_mapping", "load", "nearly"]
