"""How often runs were interrupted on each side, and whether that differs."""

import polars as pl

from analysis._change_sides import Side
from analysis.attempts import Attempts
from analysis.interruptions import Interruptions
from analysis.rate_ratios import rate_ratio

#: A thousand nodes and a day. [ns]
NODE_DAYS_NS = 1000 * 86_400 * 10**9


def stops(before: Side, now: Side) -> pl.DataFrame:
    """Compare unplanned interruptions for a thousand nodes and a day.

    Returns:
        One row as `differences` has them, the counts beside and no noise, since the
        test is exact; none where a side was not observed, or nothing stopped.
    """
    counts, times = zip(*(_counted(side) for side in (before, now)), strict=True)
    if not all(times) or not any(counts):
        return pl.DataFrame()
    first, second = ((n, t / NODE_DAYS_NS) for n, t in zip(counts, times, strict=True))
    told = rate_ratio(first, second)
    rates = [n / t for n, t in (first, second)]
    return pl.DataFrame(
        {
            "measure": ["interruptions"],
            "subject": [""],
            "before": [rates[0]],
            "now": [rates[1]],
            "change": [rates[1] - rates[0]],
            "noise": [None],
            "p_value": [told.p_value],
            "before_count": [counts[0]],
            "now_count": [counts[1]],
        },
        schema_overrides={"noise": pl.Float64},
    )


def _counted(side: Side) -> tuple[int, int]:
    """Return unplanned interruptions, and the node-time observed. [1, ns]"""
    ended = pl.coalesce("decided_ns", "last_step_end_ns")
    found = side.rows(Interruptions).filter(~pl.col("planned"), side.within(ended))
    hosts = pl.col("hosts").str.split(",").list.len().fill_null(1).clip(1)
    observed = side.shared_ns(pl.col("start_ns"), pl.col("end_ns"))
    time = side.rows(Attempts).select((observed * hosts).cast(pl.Int128).sum())
    count = found.select(pl.len()).collect().item()
    return int(count), int(time.collect().item() or 0)
