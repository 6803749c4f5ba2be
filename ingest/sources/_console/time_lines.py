"""Lines of timers in one row, `time (ms) | name: value | name: value`.

DeepSpeed writes them with `wall_clock_breakdown` (`rank=0 time (ms) | ...` in old
versions), Megatron-LM wrote them before it had timers over ranks.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._source import Reading
from ingest.sources._stamps import decimal_ns, iso_ns

#: What such a line contains.
TIME_LINE: Final = r"time \(ms\) \| *[A-Za-z][A-Za-z0-9_-]*: [0-9]"

_TIMER: Final = r"\| *([A-Za-z][A-Za-z0-9_-]*): ([0-9]{1,12}\.?[0-9]*)"
_RANK: Final = r"(?:\[Rank |rank=)([0-9]{1,7})[\] ]"
_MILLISECOND_NS: Final = 1_000_000


def timers(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return rows of Timers, one for each timer of each such line.

    Args:
        lines: Columns `number`, `line`, `rank` and `step`, other lines included.
        reading: What is known about the file.
    """
    line = pl.col("line")
    found = lines.filter(line.str.contains(TIME_LINE)).select(
        "number",
        "step",
        rank=pl.coalesce(line.str.extract(_RANK).cast(pl.Int32, strict=False), "rank"),
        time_ns=iso_ns(line, reading.zone),
        found=line.str.extract_all(_TIMER),
    )
    parts = pl.col("found").str.extract_groups(_TIMER)
    each = found.explode("found", empty_as_null=False).select(
        "step",
        "rank",
        "time_ns",
        run_id=pl.lit(reading.run_id),
        name=parts.struct[0],
        statistic=pl.lit("rank"),
        duration_ns=decimal_ns(parts.struct[1], _MILLISECOND_NS),
        place=phrase("line {}", "number"),
    )
    alike = ("step", "name", "rank", "time_ns")
    nth = pl.int_range(pl.len(), dtype=pl.Int32).over(alike)
    return each.with_columns(occurrence=nth)
