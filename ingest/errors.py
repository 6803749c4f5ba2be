"""What can go wrong on purpose: each message names the place and the mend."""

from pathlib import Path


class TelemetryError(Exception):
    """Base of every error that this project raises on purpose."""


class UnreadableFileError(TelemetryError):
    """A raw file cannot be read as the format it was recognized as."""

    def __init__(self, path: Path | str, place: str, expected: str, mend: str) -> None:
        """Name the file, the place in it, what was expected and what to do."""
        self.path = path
        self.place = place
        self.expected = expected
        self.mend = mend
        super().__init__(f"{path}: {place}: expected {expected}; {mend}")


class LakeError(TelemetryError):
    """The lake on disk is not what its manifest says."""


class LakeLockedError(LakeError):
    """Another process writes to the lake."""


class SettingError(TelemetryError):
    """A setting, an option or a field of a run card has a value that cannot be used."""


class UsageError(TelemetryError):
    """Options that cannot be given together."""


class QueryError(TelemetryError):
    """A query that DuckDB refused."""
