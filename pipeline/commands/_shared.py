"""What commands share: their options, their exit codes, their answer."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from pipeline.logs import Say, harmless, say, silence

if TYPE_CHECKING:
    from ingest.discovery import Options
    from pipeline.settings import Settings

#: Everything that was asked for is done, or there was nothing new.
DONE: Final = 0

#: Telemetry, a setting or the lake cannot be used.
FAILED: Final = 1

#: The command line itself is wrong.
MISUSED: Final = 2

#: Done, but some input was refused; the summary says how much and where to look.
PARTIAL: Final = 3

#: Stopped by Ctrl-C.
INTERRUPTED: Final = 130

#: An option that is there or not, without a `--no-` twin.
Switch = Annotated[bool, Parameter(negative=())]

#: Files, folders and globs: at least one.
Paths = Annotated[Path, Parameter(required=True)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Common:
    """What every command takes.

    Attributes:
        lake: Folder of the lake; GPULEDGER_LAKE, else ./lake.
        quiet: Say nothing but the answer and errors.
        wait: Wait for another writer of the lake instead of stopping.
    """

    lake: Path | None = None
    quiet: Switch = False
    wait: Switch = False

    @property
    def say(self) -> Say:
        """Where progress is told."""
        return silence if self.quiet else say


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read.

    Attributes:
        run: Run card for every file, instead of the nearest run.toml above each.
        run_id: Run for rows that neither a card nor the data names.
        zone: Zone of naive time stamps: an IANA name, or an offset such as +01:00.
        jobs: Batches of files that are read at once.
        mapping: Mapping for files that no source knows, before the nearest mapping.toml
            above each; may be given several times.
    """

    run: Path | None = None
    run_id: str | None = None
    zone: str | None = None
    jobs: int | None = None
    mapping: Annotated[tuple[Path, ...], Parameter(negative=())] = ()

    def options(self, settings: "Settings") -> "Options":
        """Return what was said for all files, the settings included."""
        from ingest.discovery import Options
        from ingest.times import parse_zone

        zone = parse_zone(settings.zone) if settings.zone else None
        return Options(
            self.run, self.run_id, zone, settings.cluster, tuple(settings.mapping)
        )


#: Options as they are where none was given.
COMMON: Final = Common()
READING: Final = Reading()


def settings_of(common: Common, reading: Reading = READING) -> "Settings":
    """Return the settings, with what the command line says on top."""
    from pipeline import settings

    return settings.load(
        lake=common.lake,
        zone=reading.zone,
        jobs=reading.jobs,
        mapping=reading.mapping or None,
    )


def answer(text: str) -> None:
    """Write a line of the answer to stdout."""
    sys.stdout.write(f"{harmless(text)}\n")
