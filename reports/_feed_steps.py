"""Steps that a chart puts together, in words."""

import polars as pl

from ingest.phrases import phrase
from reports._numbers import grouped
from reports._texts import said_by
from reports._words import plural


def steps_in_words(width: int) -> pl.Expr:
    """Return the steps that are put together, in words."""
    first = said_by("from_step", grouped)
    if width == 1:
        return first
    return phrase("{} to {}", first, said_by(pl.col("from_step") + width - 1, grouped))


def sample(steps: int, width: int) -> str:
    """Return how many steps, and how many are put together."""
    return f"{plural(steps, 'step')}{f'; {width} together' if width > 1 else ''}"
