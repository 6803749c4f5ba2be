"""Rows of Failures from the cells of a list of interruptions."""

from typing import Final

import polars as pl

from ingest.sources._interruption import reasons, words
from ingest.sources._interruption.columns import UNITS
from ingest.sources._slurm.sacct_hosts import expand
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.sources._stamps import decimal_ns, iso_ns
from ingest.tables import Failures
from ingest.times import SECOND_NS, Repeated

#: Where the rows come from: the table's word for what people wrote down.
SOURCE_WORD: Final = "operator"

#: Longest interruption, so that its end fits 64 bits: 30 years. [s]
MOST_SECONDS: Final = 30 * 365 * 86_400

_STAMP: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r" ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$"
)
_OFFSET: Final = r"(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})$"
_EPOCH: Final = r"^[0-9]{9,10}$"
_CLOCK: Final = r"^([0-9]{1,5}):([0-9]{2}):([0-9]{2})$"
_NUMBER: Final = r"^([0-9]{1,9}(?:\.[0-9]{1,9})?)$"
_NUMBER_UNIT: Final = r"^([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]{1,7})$"

_HINTS: Final = {
    "start_ns|required": "a date and a time as 2026-03-01 22:46",
    "start_ns|time": "a date and a time as 2026-03-01 22:46",
    "end_ns|time": "a date and a time as 2026-03-01 22:46",
    **reasons.HINTS,
    "end_ns|order": "an end that is not before its start",
    "planned|word": "yes, no, planned or unplanned",
    "node_list": "nodes separated by commas, or a list as node[01-04,07]",
}


def rows_of(cells: pl.DataFrame, unit: str | None, reading: Reading) -> Batch:
    """Return the rows of a list, and those that break a rule.

    Args:
        cells: `place`, `raw` and the columns of a list, all text.
        unit: Unit that the column of durations has in its name.
        reading: What is known about the file.
    """
    timed = cells.with_columns(
        start_ns=_instant("start", reading),
        end_ns=_instant("end", reading),
        length_ns=_length(unit),
        naive=_naive("start") | _naive("end"),
        is_planned=words.planned(),
        hosts=_hosts(cells),
    )
    start, end = pl.col("start_ns"), pl.col("end_ns")
    second = _instant("end", reading, "latest")
    told = pl.when((end < start) & (second >= start)).then(second).otherwise(end)
    ended = timed.with_columns(end_ns=told).with_columns(
        end_ns=pl.coalesce(end, start + pl.col("length_ns")), rule=_rule(unit)
    )
    bad = ended.drop_nulls("rule").select("place", "rule", "raw")
    refused = tuple(
        Refusal(Failures, place, rule, raw, _HINTS.get(rule))
        for place, rule, raw in bad.iter_rows()
    )
    rows = _rows(ended.filter(pl.col("rule").is_null()), reading)
    used = bool(timed["naive"].any())
    return Batch({Failures: rows} if len(rows) else {}, refused, zone_used=used)


def _instant(name: str, reading: Reading, repeated: Repeated = "earliest") -> pl.Expr:
    """Return the instant of a cell, null where it is none. [ns]"""
    text, full = pl.col(name), _full(name)
    epoch = pl.when(text.str.contains(_EPOCH)).then(text).cast(pl.Int64)
    zoned = full.str.replace(r" ?UTC$", "Z")
    return pl.coalesce(iso_ns(zoned, reading.zone, repeated), epoch * SECOND_NS)


def _full(name: str) -> pl.Expr:
    """Return a stamp to the second, null where a cell is none."""
    text = pl.col(name)
    stamp = pl.when(text.str.contains(_STAMP)).then(text)
    return stamp.str.replace(r"^(\S{10}[T ][0-9]{2}:[0-9]{2})($|[^:])", "${1}:00${2}")


def _naive(name: str) -> pl.Expr:
    text = pl.col(name).fill_null("")
    return text.str.contains(_STAMP) & ~text.str.contains(_OFFSET)


def _length(unit: str | None) -> pl.Expr:
    """Return a duration, null where it has no unit. [ns]"""
    text = pl.col("duration").str.to_lowercase()
    clock = text.str.extract_groups(_CLOCK)
    hours, minutes, seconds = (clock.struct[i].cast(pl.Int64) for i in range(3))
    by_clock = ((hours * 60 + minutes) * 60 + seconds) * SECOND_NS
    own = text.str.extract_groups(_NUMBER_UNIT)
    found = [by_clock]
    for name, length in UNITS.items():
        scale = length // SECOND_NS
        if name == unit:
            found.append(_scaled(text.str.extract(_NUMBER), scale))
        mine = pl.when(own.struct[1] == name).then(own.struct[0])
        found.append(_scaled(mine, scale))
    return pl.coalesce(found)


def _scaled(number: pl.Expr, scale: int) -> pl.Expr:
    """Return a number of a unit; null where it is longer than MOST_SECONDS. [ns]"""
    length = decimal_ns(number, SECOND_NS).cast(pl.Int128) * scale
    is_sane = length <= MOST_SECONDS * SECOND_NS
    return pl.when(is_sane).then(length).cast(pl.Int64)


def _hosts(cells: pl.DataFrame) -> pl.Series:
    """Return the nodes of each row; no node where none is told, null where bad."""
    known = {text: expand(text.replace(" ", "")) for text in cells["host"].drop_nulls()}
    lists: list[list[str | None] | None] = []
    for text in cells["host"]:
        names = known.get(text) if text else ""
        lists.append(
            None if names is None else list(names.split(",")) if names else [None]
        )
    return pl.Series("hosts", lists, dtype=pl.List(pl.String))


def _rule(unit: str | None) -> pl.Expr:
    """Return the rule that a row breaks, null where it breaks none."""
    start, end = pl.col("start_ns"), pl.col("end_ns")
    return (
        pl.when(pl.col("start").is_null())
        .then(pl.lit("start_ns|required"))
        .when(start.is_null())
        .then(reasons.no_time("start", _full("start"), _naive("start")))
        .when(pl.col("end").is_not_null() & end.is_null())
        .then(reasons.no_time("end", _full("end"), _naive("end")))
        .when(pl.col("duration").is_not_null() & pl.col("length_ns").is_null())
        .then(reasons.no_length(unit))
        .when(end < start)
        .then(pl.lit("end_ns|order"))
        .when(pl.col("is_planned").is_null())
        .then(pl.lit("planned|word"))
        .when(pl.col("hosts").is_null())
        .then(pl.lit("node_list"))
    )


def _rows(told: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return a row for each node of an interruption, or one where none is told."""
    alike = ["start_ns", "gpu", "cause", "component", "category"]
    own_run = pl.col("run") if reading.run_id_basis != "run_card" else pl.lit(None)
    said = [pl.col(name) for name in ("category", "component", "cause")]
    message = pl.concat_str(said, separator=": ", ignore_nulls=True)
    numbered = told.with_columns(
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(alike)
    )
    return numbered.explode("hosts").select(
        "place",
        "end_ns",
        "occurrence",
        _quality(reading).alias("time_quality"),
        cluster=pl.lit(reading.cluster),
        run_id=pl.coalesce(own_run, pl.lit(reading.run_id)),
        host=pl.col("hosts"),
        gpu_key=pl.col("gpu"),
        time_ns=pl.col("start_ns"),
        source=pl.lit(SOURCE_WORD),
        code=words.code(),
        name=pl.coalesce("cause", "component", "category"),
        component=words.component(),
        severity=pl.when("is_planned").then(pl.lit("info")).otherwise(pl.lit("fatal")),
        message=message.str.head(RAW_CHARACTERS),
        inferred=pl.lit(value=False),
        line_count=pl.lit(1, pl.Int64),
    )


def _quality(reading: Reading) -> pl.Expr:
    assumed = pl.col("naive") & pl.lit(reading.zone_basis == "assumed")
    return pl.when(assumed).then(pl.lit("zone_assumed")).otherwise(pl.lit("exact"))
