"""The cause of a slowdown, and the evidence for it in words.

A cause explains a slowdown if at least half of it is gone once what the cause names is
ideal (arXiv 2505.05713, sections 5.1 to 5.4). Causes are asked for in turn, those that
concern the fewest operations first.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from analysis._replay_evidence import (
    Found,
    communication,
    largest_kinds,
    last_stage,
    pauses,
    sequence_lengths,
    some_stage,
    workers,
)
from analysis._replay_passes import Block, blocks_of, correlation
from analysis._replay_slowdowns import Slowdowns

#: Slowdown from which a job straggles (arXiv 2505.05713, section 3.3). [1]
STRAGGLES_FROM: Final = 1.1

#: Share of the slowdown from which a cause explains it (same, section 5). [1]
EXPLAINS_FROM: Final = 0.5

#: Correlation of passes from which lengths of sequences differ (same, 5.3). [1]
CORRELATES_FROM: Final = 0.9

#: Causes that are asked for, in turn.
_LADDER: Final[tuple[tuple[str, Callable[[Slowdowns, list[Block]], Found]], ...]] = (
    ("worker", workers),
    ("sequence_length", sequence_lengths),
    ("garbage_collection", pauses),
    ("communication", communication),
    ("last_stage", last_stage),
    ("stage", some_stage),
)

#: Names of causes.
CAUSES: Final = ("not_straggling", *[name for name, _ in _LADDER], "mixed", "undecided")


class Cause(NamedTuple):
    """Why steps are slow.

    Attributes:
        name: One of CAUSES.
        evidence: What speaks for it, with numbers.
        correlation: Of passes forward and backward over micro-batches. [1]
    """

    name: str
    evidence: str
    correlation: float | None


def cause_of(slow: Slowdowns, thresholds: Mapping[str, float]) -> Cause:
    """Name the cause of a slowdown.

    Where a part of the job is not in the trace, what is left may hide the cause: that
    nothing is slow, or nothing alone, is undecided then.

    Args:
        slow: Slowdowns of a trace.
        thresholds: `straggles_from`, `explains_from` and `correlates_from`. [1]
    """
    found = _named(slow, thresholds)
    partial = slow.scenarios.replay.doubts.partial()
    if not partial or found.name not in ("not_straggling", "mixed"):
        return found
    return found._replace(
        name="undecided", evidence="; ".join([*partial, found.evidence])
    )


def _named(slow: Slowdowns, thresholds: Mapping[str, float]) -> Cause:
    blocks = blocks_of(slow.scenarios)
    together = correlation(slow.scenarios, blocks)
    if slow.ratio < thresholds["straggles_from"]:
        limit = thresholds["straggles_from"]
        text = f"steps take {slow.ratio:.3f} times the ideal, less than {limit:g}"
        return Cause("not_straggling", text, together)
    varies = together is not None and together >= thresholds["correlates_from"]
    said = f"; passes forward and backward correlate at {together or 0.0:.2f}"
    more = said if varies else ""
    for name, look in _LADDER:
        if name == "sequence_length" and not varies:
            continue
        found = look(slow, blocks)
        if found is not None and found.share >= thresholds["explains_from"]:
            return Cause(name, found.text + more, together)
    return Cause("mixed", largest_kinds(slow) + more, together)
