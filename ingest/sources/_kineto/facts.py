"""What a trace says of itself, before its events or behind them."""

import re
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from msgspec import Raw

from ingest.sources._kineto.events import members

#: Ranks and sizes that Int32 can hold.
_GREATEST: Final = (1 << 31) - 1

#: Base times that Int64 can hold. [ns]
_LATEST_NS: Final = (1 << 63) - 1

_FOUND: Final = re.compile(
    rb'"(baseTimeNanoseconds|rank|world_size)"\s*:\s*"?(\d{1,19})"?(?=\s*[,}])'
)

#: Zeros before a number, which JSON does not have: `03`, `"03"`.
_LEADING_ZEROS: Final = re.compile(rb'^("?)0+(?=\d)')

#: Rank in a file's name, as PyTorch and its users write it: worker3, rank-0, rank_12.
_RANK_IN_NAME: Final = re.compile(
    r"(?<![a-z])(?:rank|worker)[-_]?([0-9]{1,7})(?![0-9])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a trace says of itself.

    Attributes:
        base_ns: Instant that its times count from; null where it has none. [ns]
        rank: Global rank.
        world_size: Ranks of the job. [1]
    """

    base_ns: int | None = None
    rank: int | None = None
    world_size: int | None = None

    def updated(self, later: "Facts") -> "Facts":
        """Return these facts, and the later ones where both tell."""
        return replace(
            self,
            **{
                name: value
                for name in ("base_ns", "rank", "world_size")
                if (value := getattr(later, name)) is not None
            },
        )


def facts_of(fields: dict[str, Raw]) -> Facts:
    """Read the facts from the members of a trace's object."""
    distributed = members(bytes(fields.get("distributedInfo", b"{}")))
    return Facts(
        base_ns=_whole(fields.get("baseTimeNanoseconds"), _LATEST_NS),
        rank=_whole(distributed.get("rank"), _GREATEST),
        world_size=_whole(distributed.get("world_size"), _GREATEST),
    )


def facts_in(text: bytes) -> Facts:
    """Search for the facts in a text that is no JSON."""
    found = {match[1]: Raw(match[2]) for match in _FOUND.finditer(text)}
    return Facts(
        base_ns=_whole(found.get(b"baseTimeNanoseconds"), _LATEST_NS),
        rank=_whole(found.get(b"rank"), _GREATEST),
        world_size=_whole(found.get(b"world_size"), _GREATEST),
    )


def rank_in_name(name: str) -> int | None:
    """Return the rank that a file's name tells."""
    match = _RANK_IN_NAME.search(name)
    return int(match[1]) if match else None


def _whole(raw: Raw | None, greatest: int) -> int | None:
    text = _LEADING_ZEROS.sub(rb"\1", bytes(raw or b"null"))
    try:
        value = msgspec.json.decode(text, type=int, strict=False)
    except msgspec.DecodeError:
        return None
    return value if 0 <= value <= greatest else None
