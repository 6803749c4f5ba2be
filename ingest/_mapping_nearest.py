"""Which mappings apply to a file: those that were given, then the nearest above it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import mapping
from ingest._names import resolved
from ingest.mapping import MAPPING_NAME, Mapping

if TYPE_CHECKING:
    from ingest._found import Found, Options


class Mappings:
    """The mappings met so far, each read once."""

    def __init__(self, options: "Options") -> None:
        """Read the mappings that were given.

        Raises:
            SettingError: If one cannot be used.
        """
        self._parsed: dict[Path, Mapping] = {}
        self._nearest: dict[Path, Path | None] = {}
        given = dict.fromkeys(resolved(path) for path in options.mappings)
        self._given = tuple(self._read(path) for path in given)

    def applied(self, found: Sequence["Found"]) -> list["Found"]:
        """Return files with the mappings that apply to them, and no mapping.

        Raises:
            SettingError: If a mapping cannot be used.
        """
        told = [replace(file, mappings=self._of(file.path)) for file in found]
        return [file for file in told if file.path not in self._parsed]

    def _of(self, path: Path) -> tuple[Mapping, ...]:
        nearest = self._path(path.parent)
        if nearest is None:
            return self._given
        return tuple(dict.fromkeys((*self._given, self._read(nearest))))

    def _path(self, folder: Path) -> Path | None:
        if folder not in self._nearest:
            here, above = folder / MAPPING_NAME, folder.parent
            if here.is_file() and mapping.is_mapping(here):
                self._nearest[folder] = here
            else:
                self._nearest[folder] = self._path(above) if above != folder else None
        return self._nearest[folder]

    def _read(self, path: Path) -> Mapping:
        if path not in self._parsed:
            self._parsed[path] = mapping.load(path)
        return self._parsed[path]
