"""Lists of decoded values to columns."""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from zlib import crc32

import polars as pl
from msgspec import Raw

from ingest.sources._kineto.events import CollectiveArgs, Ids
from ingest.sources._kineto.numbers import micros_to_ns

_LAST_NUMBER: Final = re.compile(r"([0-9]{1,19})\D*$")

_SIGN: Final = 1 << 63


def number_text(raws: Sequence[Raw]) -> bytes:
    """Return the texts of some numbers, one a line."""
    text = b"\n".join(raws)
    if text.count(b"\n") != len(raws) - 1:
        text = b"\n".join(bytes(raw).replace(b"\n", b" ") for raw in raws)
    return text


def times(texts: Sequence[bytes]) -> pl.Series:
    """Return the times of the lines of some texts. [ns]"""
    lines = b"\n".join(texts).decode(errors="replace").split("\n") if texts else []
    return micros_to_ns(pl.Series(lines, dtype=pl.String))


def integers(values: Sequence[int | str | None]) -> pl.Series:
    """Return whole numbers as Int64.

    Of a text ("stream 7", "cuda:0") the last number counts, else its checksum; of a
    larger number, the last 64 bits: both only tell one from another.
    """
    try:
        return pl.Series(values, dtype=pl.Int64)
    except (TypeError, OverflowError):
        return pl.Series([_integer(value) for value in values], dtype=pl.Int64)


def _integer(value: int | str | None) -> int | None:
    if isinstance(value, str):
        number = _LAST_NUMBER.search(value)
        value = int(number[1]) if number else crc32(value.encode(errors="replace"))
    return value if value is None else (value + _SIGN) % (2 * _SIGN) - _SIGN


def external_ids(ids: Sequence[Ids]) -> pl.Series:
    """Return ids of the operations that launched; a trace spells the key one way."""
    found = [one.external for one in ids]
    if found.count(None) == len(found):
        found = [one.old_external for one in ids]
    return integers(found)


def collective_columns(args: Sequence[CollectiveArgs]) -> dict[str, pl.Series]:
    """Return the arguments of collectives as columns."""
    return {
        "collective": _texts(one.collective for one in args),
        "in_elements": integers([one.in_elements for one in args]),
        "out_elements": integers([one.out_elements for one in args]),
        "group_size": integers([one.group_size for one in args]),
        "dtype": _texts(one.dtype for one in args),
        "group_name": _texts(_text(one.group_name) for one in args),
        "group_purpose": _texts(one.group_purpose for one in args),
        "group_ranks": _texts(_text(one.group_ranks) for one in args),
        "sequence": integers([one.sequence for one in args]),
        "source": integers([one.source for one in args]),
        "target": integers([one.target for one in args]),
    }


def _texts(values: Iterable[str | None]) -> pl.Series:
    return pl.Series([value or None for value in values], dtype=pl.String)


def _text(value: int | str | list[int] | None) -> str | None:
    return None if value is None else str(value)
