"""A repair: what to do, what it saves, who acts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reports._savings import Saving

#: What the sections that show evidence are called on the page.
TITLES: Final[Mapping[str, str]] = {
    "overlap": "Hidden and exposed",
    "lost_time": "Where it went",
    "stragglers": "Slow GPUs",
    "replays": "Replay",
    "interruptions": "Interruptions",
    "checkpoint_plans": "Checkpoints",
    "lemon_nodes": "Lemon nodes",
    "data_feed": "Data feed",
}


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair, and what it saves with everything else as it is.

    Attributes:
        what: What is repaired.
        saves: What that saves.
        is_bound: Whether the saving is an upper bound.
        confidence: How sure it is, and why.
        evidence: Title of the section that shows it.
        section: Name of that section.
        who: Who has to act.
    """

    what: str
    saves: Saving
    is_bound: bool
    confidence: str
    evidence: str
    section: str
    who: str
