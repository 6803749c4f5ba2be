"""What is found in an archive, of whatever kind it is."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingest._envelope_layer import Fault


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file in an archive.

    Attributes:
        name: Its name there, which is shown and never a path on disk.
        size: Size that the archive says it has. [B]
        modified_ns: When it was last written; None where the archive does not say.
            [ns]
        content: Its bytes, to be read before the next member is asked for. Raises
            BrokenMemberError where it is damaged.
    """

    name: str
    size: int
    modified_ns: int | None
    content: Iterator[bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Unread:
    """What cannot be read of an archive.

    Attributes:
        name: Name of the member; empty where it is the archive itself.
        reason: Why not.
    """

    name: str
    reason: str


Entry = Member | Unread


class BrokenMemberError(Exception):
    """A member is cut or damaged: what was read of it before is what there is."""

    def __init__(self, fault: Fault) -> None:
        """Say what is wrong."""
        super().__init__(fault.hint)
        self.fault = fault
