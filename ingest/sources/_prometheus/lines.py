"""Lines of a text format as samples: series, value and time stamp, each as text."""

from typing import Final

import polars as pl

from ingest.sources._lines import TOO_LONG, TRUNCATED, Block
from ingest.sources._prometheus.split import split
from ingest.sources._prometheus.stamps import stamp_ns

#: Characters at the end of a line that hold its value and its time stamp; a line with
#: more of them is looked at as a whole.
_TAIL: Final = 64

_REST: Final = r"\}[ \t]*([^}]*)$"
_PLAIN: Final = r"^[^ \t{}]+[ \t]+(.*)$"
_WHOLE: Final = r"^.*\}[ \t]*([^}]*)$"
_VALUE: Final = r"^(\S+)(?:\s+(\S+))?$"

#: An exemplar of OpenMetrics behind a sample: no part of it.
_EXEMPLAR: Final = r"^(.*\}\s*\S+(?:\s+[0-9.eE+-]+)?) # \{.*$"

#: Rule of a line that is no sample.
NO_NUMBER: Final = "value|number"

#: Rule of a time stamp that is none.
NO_TIME: Final = "time_ns|value"


def samples(block: Block) -> pl.DataFrame:
    """Return the lines of a block that are no comments.

    Returns:
        `number`; `series`, the name with its labels; `value`, and `whole` where it is
        written as an integer; `time_ns`, null without a time stamp; and `rule`, which
        the line breaks.
    """
    parts = _parts(block)
    read = parts.with_columns(
        value=pl.col("_value").cast(pl.Float64, strict=False),
        whole=pl.col("_value").cast(pl.Int64, strict=False),
        time_ns=_times(parts["_stamp"]),
    )
    rule = pl.coalesce(_broken(block), _unread())
    return read.with_columns(rule=rule).drop("_value", "_stamp")


def _parts(block: Block) -> pl.DataFrame:
    """Return `number`, `series`, `_value` and `_stamp` of lines, as text."""
    quick = split(block)
    if quick is None:
        return _by_pattern(block.texts())
    if quick.odd.is_empty():
        return quick.parts
    odd = block.texts().filter(pl.col("number").is_in(quick.odd.implode()))
    return pl.concat([quick.parts, _by_pattern(odd)]).sort("number")


def _by_pattern(texts: pl.DataFrame) -> pl.DataFrame:
    lines = texts.filter(~pl.col("line").str.starts_with("#"))
    cut = _without_exemplars(lines).with_columns(_rest=_rest())
    known = pl.col("_rest").str.extract_groups(_VALUE)
    kept = pl.col("_text").str.len_chars() - pl.col("_rest").str.len_chars()
    return cut.select(
        "number",
        series=pl.col("_text").str.head(kept).str.strip_chars_end(" \t"),
        _value=known.struct[0],
        _stamp=known.struct[1],
    )


def _without_exemplars(lines: pl.DataFrame) -> pl.DataFrame:
    has_one = pl.col("line").str.contains(" # {", literal=True)
    if not lines.select(has_one.any()).item():
        return lines.with_columns(_text="line")
    without = pl.col("line").str.replace(_EXEMPLAR, "${1}")
    return lines.with_columns(_text=pl.when(has_one).then(without).otherwise("line"))


def _rest() -> pl.Expr:
    text = pl.col("_text")
    near = text.str.tail(_TAIL).str.extract(_REST)
    far = pl.when(near.is_null()).then(text)
    return pl.coalesce(near, far.str.extract(_WHOLE), far.str.extract(_PLAIN))


def _times(stamps: pl.Series) -> pl.Series:
    """Return the instants of stamps; of a scrape there are few different ones."""
    different = stamps.unique().drop_nulls()
    if different.is_empty():
        return pl.repeat(None, len(stamps), dtype=pl.Int64, eager=True)
    known = pl.DataFrame({"stamp": different, "at": stamp_ns(different)})
    found = stamps.to_frame("stamp").join(
        known, on="stamp", how="left", maintain_order="left"
    )
    return found["at"]


def _broken(block: Block) -> pl.Expr:
    number = pl.col("number")
    is_cut = pl.lit(block.cut) & (number == block.first)
    is_short = pl.lit(block.cut_short) & (number == block.last)
    return pl.when(is_cut).then(pl.lit(TOO_LONG)).when(is_short).then(pl.lit(TRUNCATED))


def _unread() -> pl.Expr:
    no_time = pl.col("_stamp").is_not_null() & pl.col("time_ns").is_null()
    return (
        pl.when(pl.col("value").is_null())
        .then(pl.lit(NO_NUMBER))
        .when(no_time)
        .then(pl.lit(NO_TIME))
    )
