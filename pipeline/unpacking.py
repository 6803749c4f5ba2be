"""How archives are unpacked: what the command line and the settings say of it."""

from dataclasses import dataclass, field
from typing import Final, Self

from ingest.archives import Limits
from ingest.discovery import Options
from pipeline.settings import Settings

#: Bytes of a gibibyte.
_GIBI: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Unpacking:
    """How archives are unpacked.

    Attributes:
        options: What was said for all files.
        limits: How much is unpacked.
    """

    options: Options = field(default_factory=Options)
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def of(cls, options: Options, settings: Settings) -> Self:
        """Return what the settings say."""
        limits = Limits(settings.archive_entries, settings.unpacked_gib * _GIBI)
        return cls(options, limits)


#: How archives are unpacked where nothing was said.
UNPACKING: Final = Unpacking()
