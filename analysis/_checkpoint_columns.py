"""Columns that tables on checkpoints share."""

import dataframely as dy

from ingest.tables import _columns as c


def per_day(doc: str) -> dy.Decimal:
    """Return GPU time of a day: a total that a name ending in a day carries."""
    return dy.Decimal(c.TOTAL_DIGITS, 0, nullable=True, description=doc)
