"""Timers of Megatron-LM (core/timers.py) and its --log-straggler report.

    (min, max) time across ranks (ms):
        forward-backward ...............................: (3198.27, 3199.53)
    times across ranks (ms):
      forward-compute:
         rank  0: 1201.10
    [2025-01-01 10:00:00] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3460.70ms/0 | ...

* Timers follow the line of their iteration and have no stamp: both are taken from it.
* The time that saving a checkpoint took is also a row of Checkpoints: it began when the
  iteration before it ended, and training stood still.
* Power comes from torch.cuda.power_draw, in mW, and is printed as W: what no board can
  draw is divided by 1,000.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._console.format import LineFormat
from ingest.sources._console.megatron import TELLING as ITERATION
from ingest.sources._console.megatron import iteration, stamp_ns
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import decimal_ns
from ingest.tables import Checkpoints, Timers

#: Power that no board draws: the largest are at 1,400 W. [W]
MOST_WATTS: Final = 2_000

_HEAD: Final = r"^(?:\(min, max\) |max )?times? across ranks \(ms\):$"
_PAIR: Final = (
    r"^([A-Za-z0-9_./-]+) ?\.*: \(([0-9]{1,12}\.[0-9]+), ([0-9]{1,12}\.[0-9]+)\)$"
)
_GREATEST: Final = r"^([A-Za-z0-9_./-]+) \.+: ([0-9]{1,12}\.[0-9]+)$"
_NAME: Final = r"^([A-Za-z0-9_./-]+):$"
_OF_RANK: Final = r"^rank +([0-9]{1,6}): ([0-9]{1,12}\.[0-9]+)$"
_STRAGGLER: Final = r"\| M[nx][A-Za-z]{2,6}/Rnk: [0-9.]+\S*/[0-9]"
_READING: Final = (
    r"M[nx][A-Za-z]{2,6}/Rnk: [0-9]{1,12}\.?[0-9]*(?:ms|W|C|%|MHz|TF)/[0-9]{1,6}"
)
_PARTS: Final = r"M([nx])([A-Za-z]+)/Rnk: ([0-9.]+)(ms|W|C|%|MHz|TF)/([0-9]+)"

_TELLING: Final = (
    rf"^\(min, max\) time across ranks|^(?:max )?times? across ranks|{_STRAGGLER}"
)
_ANY: Final = "|".join((_HEAD, _PAIR, _GREATEST, _NAME, _OF_RANK, _STRAGGLER))
_MILLISECOND_NS: Final = 1_000_000
_UNIT: Final = {"W": "W", "C": "degC", "%": "1", "MHz": "MHz", "TF": "TFLOP/s"}
_STATE: Final = pl.Schema(
    {"step": pl.Int64, "time_ns": pl.Int64, "head": pl.String, "block": pl.String}
)


class _Timers:
    """Gives timers the iteration that was logged last, over the blocks of a file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._state = pl.DataFrame([{}], schema=_STATE)

    def take(self, lines: pl.DataFrame) -> Batch:
        line = pl.col("line")
        found = lines.filter(line.str.contains(rf"{_ANY}|{ITERATION}"))
        if found.is_empty():
            return Batch()
        told = found.with_columns(
            step=iteration(),
            time_ns=stamp_ns(self._reading),
            head=line.str.extract(f"({_HEAD})"),
            block=line.str.extract(_NAME),
        )
        names = _STATE.names()
        whole = pl.concat([self._state, told.select(names)]).with_columns(
            pl.all().forward_fill()
        )
        self._state = whole.tail(1)
        if not found["line"].str.contains(_ANY).any():
            return Batch()
        placed = told.drop(names).hstack(whole.tail(told.height))
        rows = pl.concat([*_timer_rows(placed), _straggler_rows(placed, self._reading)])
        return self._batch(rows)

    def close(self) -> Batch:
        return Batch()

    def _batch(self, rows: pl.DataFrame) -> Batch:
        if rows.is_empty():
            return Batch()
        alike = ("step", "name", "statistic", "rank", "time_ns")
        timers = rows.sort("number", maintain_order=True).select(
            pl.exclude("number"),
            run_id=pl.lit(self._reading.run_id),
            occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(alike),
            place=phrase("line {}", "number"),
        )
        saves = _saves(timers)
        tables = {Timers: timers, Checkpoints: saves}
        return Batch({table: rows for table, rows in tables.items() if rows.height})


def _timer_rows(lines: pl.DataFrame) -> list[pl.DataFrame]:
    """Return the values of timers, those of each form of output."""
    line = pl.col("line")
    pair = line.str.extract_groups(_PAIR)
    one = line.str.extract_groups(_GREATEST)
    of_rank = line.str.extract_groups(_OF_RANK)
    spread = pl.col("head").str.starts_with("(min")
    greatest = pl.col("head").str.starts_with("max")
    each = pl.col("head").str.starts_with("times")
    no_rank = pl.lit(None, pl.Int32)
    return [
        _values(lines, spread, pair.struct[0], "min", (no_rank, pair.struct[1])),
        _values(lines, spread, pair.struct[0], "max", (no_rank, pair.struct[2])),
        _values(lines, greatest, one.struct[0], "max", (no_rank, one.struct[1])),
        _values(
            lines,
            each,
            pl.col("block"),
            "rank",
            (of_rank.struct[0].cast(pl.Int32, strict=False), of_rank.struct[1]),
        ),
    ]


def _values(
    lines: pl.DataFrame,
    mode: pl.Expr,
    name: pl.Expr,
    statistic: str,
    value: tuple[pl.Expr, pl.Expr],
) -> pl.DataFrame:
    rank, milliseconds = value
    rows = lines.filter(mode).select(
        "number",
        "step",
        "time_ns",
        name=name,
        statistic=pl.lit(statistic),
        rank=rank,
        duration_ns=decimal_ns(milliseconds, _MILLISECOND_NS),
        value=pl.lit(None, pl.Float64),
        value_unit=pl.lit(None, pl.String),
    )
    return rows.drop_nulls(["name", "duration_ns"])


def _straggler_rows(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the readings of the reports on stragglers."""
    found = lines.filter(pl.col("line").str.contains(_STRAGGLER)).select(
        "number",
        "step",
        time_ns=pl.coalesce(stamp_ns(reading), "time_ns"),
        found=pl.col("line").str.extract_all(_READING),
    )
    parts = pl.col("found").str.extract_groups(_PARTS)
    unit, text = parts.struct[3], parts.struct[2]
    number = text.cast(pl.Float64, strict=False)
    factor = (
        pl.when((unit == "W") & (number > MOST_WATTS))
        .then(1_000)
        .when(unit == "%")
        .then(100)
        .otherwise(1)
    )
    return found.explode("found", empty_as_null=False).select(
        "number",
        "step",
        "time_ns",
        name=parts.struct[1],
        statistic=pl.when(parts.struct[0] == "n")
        .then(pl.lit("min"))
        .otherwise(pl.lit("max")),
        rank=parts.struct[4].cast(pl.Int32),
        duration_ns=pl.when(unit == "ms").then(decimal_ns(text, _MILLISECOND_NS)),
        value=pl.when(unit != "ms").then(number / factor),
        value_unit=unit.replace_strict(_UNIT, default=None, return_dtype=pl.String),
    )


def _saves(timers: pl.DataFrame) -> pl.DataFrame:
    """Return saves of checkpoints: their greatest time, after the iteration logged."""
    is_save = (pl.col("name") == "save-checkpoint") & (pl.col("statistic") == "max")
    return timers.filter(is_save & pl.col("time_ns").is_not_null()).select(
        *("run_id", "step", "duration_ns", "place"),
        kind=pl.lit("save"),
        start_ns="time_ns",
        stall_ns="duration_ns",
    )


MEGATRON_TIMERS: Final = LineFormat(
    name="megatron-timers",
    version=2,
    describes="timers of Megatron-LM (max, minmax, all) and its --log-straggler report",
    tables=(Timers, Checkpoints),
    telling=_TELLING,
    start=_Timers,
)
