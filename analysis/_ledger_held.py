"""Communication on a line, cut at the gaps in compute, and what each piece held up."""

from typing import NamedTuple

import numpy as np

from analysis._ledger_gaps import ROUNDING_NS
from analysis._ledger_line import Numbers, Spans


class Waits(NamedTuple):
    """Communication on a line.

    Attributes:
        spans: When it was on; each has a length. [ns]
        until: When what it waited for had come, its start where no wait is known. [ns]
        role: What was waited for.
    """

    spans: Spans
    until: Numbers
    role: Numbers

    def and_also(self, others: "Waits") -> "Waits":
        """Return these and others."""
        spans = zip(self.spans, others.spans, strict=True)
        return Waits(
            Spans(*(np.concatenate(two) for two in spans)),
            np.concatenate([self.until, others.until]),
            np.concatenate([self.role, others.role]),
        )


class Pieces(NamedTuple):
    """Parts of communication within gaps, sorted by start.

    Attributes:
        spans: When each was on in the gap. [ns]
        gaps: The gap that each is in. [ns]
        whole: When all of the communication was on. [ns]
        until: As in Waits. [ns]
        role: As in Waits.
    """

    spans: Spans
    gaps: Spans
    whole: Spans
    until: Numbers
    role: Numbers


def pieces_of(waits: Waits, gaps: Spans) -> Pieces:
    """Cut communication at gaps.

    Args:
        waits: Communication.
        gaps: Intervals with a length that share no time, ascending. [ns]
    """
    first = np.searchsorted(gaps.end, waits.spans.start, side="right")
    until = np.searchsorted(gaps.start, waits.spans.end, side="left")
    counts = np.maximum(until - first, 0)
    which = np.repeat(np.arange(len(counts)), counts)
    gap = np.arange(len(which)) - (np.cumsum(counts) - counts - first)[which]
    cut = waits.spans.take(which).cut(*gaps.take(gap))
    order = np.argsort(cut.start, kind="stable")
    which = which[order]
    return Pieces(
        cut.take(order),
        gaps.take(gap[order]),
        waits.spans.take(which),
        waits.until[which],
        waits.role[which],
    )


def held_by(pieces: Pieces) -> Numbers:
    """Return how long each piece was what its gap was spent waiting for. [ns]

    At any time the communication counts that ends last before work goes on. One that
    still runs when work goes on counts only where there is no other: see `blocked_by`.
    """
    is_open = pieces.whole.end > pieces.gaps.end + ROUNDING_NS
    left = pieces.spans.end
    keys = (pieces.role, pieces.spans.start, -pieces.until, -left, is_open)
    order = np.lexsort((*keys, -pieces.gaps.start))
    begun = np.minimum.accumulate(pieces.spans.start[order])
    taken = pieces.spans.end[order]
    taken[1:] = np.minimum(taken[1:], begun[:-1])
    held = np.empty_like(taken)
    until = np.minimum(taken, pieces.until[order])
    held[order] = np.maximum(until - pieces.spans.start[order], 0)
    return held
