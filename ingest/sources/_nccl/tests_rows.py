"""Rows of nccl-tests: one size, out of place or in place.

A bandwidth is printed beside the time that it was computed from. Where the two do not
agree within their rounding, one of them was damaged, and nothing tells which: the row
is refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import polars as pl

from ingest.communication import collective_kind
from ingest.phrases import phrase
from ingest.sources._kineto.rows import trace_id
from ingest.sources._nccl.tests_numbers import (
    GREATEST,
    UNKNOWN,
    agree,
    count_of,
    finite,
    guess,
    integer_of,
    number_of,
)
from ingest.sources._source import Reading
from ingest.tables import BandwidthTests

#: Nanoseconds in a microsecond. [ns]
_MICROSECOND_NS: Final = 1_000

#: busbw over algbw among n ranks. Source: nccl-tests, doc/PERFORMANCE.md.
_FACTORS: Final[Mapping[str, Callable[[int], Decimal]]] = MappingProxyType(
    {
        "allreduce": lambda n: Decimal(2 * (n - 1)) / n,
        **dict.fromkeys(
            ("allgather", "reducescatter", "alltoall", "gather", "scatter"),
            lambda n: Decimal(n - 1) / n,
        ),
        **dict.fromkeys(("broadcast", "reduce", "sendrecv"), lambda _: Decimal(1)),
    }
)


@dataclass(slots=True)
class Test:
    """What is known of a test beside its rows.

    Attributes:
        number: Its number in the file, counted from one.
        program: Name of the test (`all_reduce_perf`); None where it is not told.
        hosts: Nodes that took part, in the order they are told.
        ranks: Ranks that took part; 0 where unknown. [1]
        time_ns: When it started. [ns]
    """

    number: int = 1
    program: str | None = None
    hosts: dict[str, None] = field(default_factory=dict)
    ranks: int = 0
    time_ns: int | None = None

    @property
    def kind(self) -> str | None:
        """Kind of collective, as the test's own name tells it."""
        return kind_of(self.program) if self.program else None


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one row, as they are printed.

    Attributes:
        size: Size of the whole message. [B]
        dtype: Number format.
        reduction: Operation of a reduction.
        root: Root.
        time: Time of one operation. [us]
        algbw: Size over time. [GB/s]
        busbw: Size over time, corrected for the kind. [GB/s]
        wrong: Elements with a wrong result.
        in_place: Whether the result replaced the input.
    """

    size: str
    dtype: str | None
    reduction: str | None
    root: str | None
    time: str
    algbw: str
    busbw: str
    wrong: str | None
    in_place: bool


@lru_cache(maxsize=64)
def kind_of(program: str) -> str:
    """Return the kind of collective that a test measures."""
    plain = program.rpartition("/")[2].removesuffix("_perf").lower()
    found = pl.select(collective_kind(pl.lit(plain))).item()
    return str(found) if found else plain or UNKNOWN


def row_of(
    cells: Cells, test: Test, name_kind: str | None, stamp_ns: int | None = None
) -> dict[str, object] | str:
    """Return a row of BandwidthTests, or the rule that its cells break.

    Args:
        cells: The cells.
        test: The test that they are of.
        name_kind: Kind that the name of the file means, for a test that tells none.
        stamp_ns: When it was measured, where the row tells it. [ns]
    """
    size, time = integer_of(cells.size), number_of(cells.time)
    algbw, busbw = number_of(cells.algbw), number_of(cells.busbw)
    if size is None or size < 0:
        return "bytes_total|value"
    if time is None or time < 0 or time * _MICROSECOND_NS > GREATEST:
        return "duration_ns|value"
    if time and (rule := _disagree(Decimal(size) / time, algbw, busbw, test, time)):
        return rule
    return _facts(cells, test) | {
        "kind": test.kind or name_kind or guess(algbw, busbw),
        "bytes_total": size,
        "duration_ns": int((time * _MICROSECOND_NS).to_integral_value()),
        "algbw_gbs": finite(algbw),
        "busbw_gbs": finite(busbw),
        "time_ns": test.time_ns if stamp_ns is None else stamp_ns,
    }


def _facts(cells: Cells, test: Test) -> dict[str, object]:
    root = integer_of(cells.root or "")
    return {
        "test": test.number,
        "hosts": ",".join(test.hosts) or None,
        "ranks": test.ranks or None,
        "dtype": _told(cells.dtype),
        "reduction": _told(cells.reduction),
        "root": root if root is not None and 0 <= root < 1 << 31 else None,
        "in_place": cells.in_place,
        "wrong_count": count_of(cells.wrong),
    }


def _disagree(
    exact: Decimal,
    algbw: Decimal | None,
    busbw: Decimal | None,
    test: Test,
    time: Decimal,
) -> str | None:
    """Return the rule that bandwidths break beside the exact one. [B/us]"""
    exact /= _MICROSECOND_NS
    if algbw is not None and not agree(algbw, exact, time):
        return "algbw_gbs|value"
    factor = _FACTORS.get(test.kind or "") if test.ranks > 0 else None
    if busbw is None or factor is None:
        return None
    is_of_all = agree(busbw, exact * factor(test.ranks), time)
    return None if is_of_all else "busbw_gbs|value"


def _told(text: str | None) -> str | None:
    return text if text and text not in {"none", "N/A"} else None


_SCHEMA: Final = {
    **dict.fromkeys(("place", "kind", "dtype", "reduction", "hosts"), pl.String),
    **dict.fromkeys(("bytes_total", "duration_ns", "ranks"), pl.Int64),
    **dict.fromkeys(("time_ns", "wrong_count", "test"), pl.Int64),
    **dict.fromkeys(("root", "position"), pl.Int32),
    **dict.fromkeys(("algbw_gbs", "busbw_gbs"), pl.Float64),
    "in_place": pl.Boolean,
}


def frame_of(rows: list[dict[str, object]], reading: Reading) -> pl.DataFrame:
    """Return rows as a frame of BandwidthTests."""
    quality = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    reduces = (pl.col("kind") == "allreduce").any().over("test")
    is_one = (pl.col("kind") == UNKNOWN) & reduces
    return (
        pl.DataFrame(rows, schema=_SCHEMA)
        .with_columns(
            kind=pl.when(is_one).then(pl.lit("allreduce")).otherwise("kind"),
            run_id=pl.lit(reading.run_id),
            test_id=phrase(f"{trace_id(reading)} {{}}", "test"),
            time_quality=pl.when(BandwidthTests.time_ns.col.is_not_null()).then(
                pl.lit(quality)
            ),
        )
        .drop("test")
    )
