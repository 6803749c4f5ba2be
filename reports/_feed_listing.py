"""Faults of a feed one by one, with what each cost."""

from decimal import Decimal
from typing import Final

import polars as pl

from reports import _sql
from reports._feed_heading import KINDS
from reports._numbers import grouped
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural
from reports.dollars import dollars, in_words

_SQL: Final = """\
SELECT * FROM data_feed_violations
${where}ORDER BY gpu_ns DESC NULLS LAST, samples_count DESC NULLS LAST, run_id, step"""

_COLUMNS: Final = (
    Column("Run"),
    Column("Step", "In the attempt in brackets.", is_number=True),
    Column("What"),
    Column("Ranks", "Those with the samples, or beside the gap."),
    Column("Samples", is_number=True),
    Column("Cost", "GPU time that it took for nothing.", is_number=True),
    Column("Evidence"),
)


def listings(faults: pl.DataFrame, scope: Scope) -> list[Listing]:
    """Return the ten dearest faults; nothing where there is none.

    Args:
        faults: Rows of DataFeedViolations.
        scope: Runs of the page, and their prices.
    """
    if faults.is_empty():
        return []
    by = ["gpu_ns", "samples_count", "run_id", "step"]
    falls = [True, True, False, False]
    shown = faults.sort(by, descending=falls, nulls_last=True).head(MOST_ROWS)
    more = faults.height - shown.height
    return [
        Listing(
            title="What went wrong, the dearest first",
            columns=_COLUMNS,
            rows=[_row(row, scope) for row in shown.to_dicts()],
            more=f"{plural(more, 'more fault')} by SQL." if more else "",
            sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
        )
    ]


def _row(row: dict[str, object], scope: Scope) -> tuple[str, ...]:
    samples, lost = row["samples_count"], row["gpu_ns"]
    run_id, basis = str(row["run_id"]), str(row["cost_basis"])
    free = "no GPU time" if basis.startswith("no ") else "not known"
    price = scope.price(run_id)
    paid = dollars(int(lost), price) if isinstance(lost, Decimal) else None
    ranks = row["ranks"]
    return (
        name(run_id, 24),
        f"{grouped(int(str(row['step'])))} ({row['attempt']})",
        KINDS[str(row["kind"])],
        name(str(ranks), 40) if ranks else "not known",
        grouped(samples) if isinstance(samples, int) else "not known",
        free if paid is None else in_words(paid),
        name(str(row["evidence"]), 200),
    )
