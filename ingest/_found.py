"""What was asked for, and the files that were found for it."""

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Literal

from ingest._expanded import Fault
from ingest._names import display
from ingest.mapping import Mapping

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
        mappings: Mappings that apply to every file, before the nearest above each.
    """

    card: Path | None = None
    run_id: str | None = None
    zone: tzinfo | None = None
    cluster: str = "default"
    mappings: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and what is known of it before it is opened.

    Attributes:
        path: Where it is on disk.
        zone: Zone of its naive time stamps.
        zone_basis: Where the zone came from.
        run_id: Run of rows that do not say theirs.
        run_id_basis: Where that run came from.
        cluster: Cluster of its rows.
        year: Year of its time stamps without one, where a card says it.
        inside: Its path as it is shown, where it was unpacked from an archive.
        fault: What is wrong with it in its archive.
        mappings: Mappings that apply to it.
    """

    path: Path
    zone: tzinfo
    zone_basis: ZoneBasis
    run_id: str
    run_id_basis: RunBasis
    cluster: str
    year: int | None
    inside: str | None = None
    fault: Fault | None = None
    mappings: tuple[Mapping, ...] = ()

    @property
    def shown(self) -> str:
        """Its path as text that can be printed and stored."""
        return self.inside or display(self.path)

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.inside.rpartition("/")[2] if self.inside else self.path.name
