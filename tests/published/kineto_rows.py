"""The table of figures, and what whole traces took."""

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from analysis.attempts import Attempts
from analysis.overlap import measure_overlap
from ingest.tables import Kernels
from tests.published.traces import rows_of

#: A trace whose time stamps are absolute. The table took differences of them as floats,
#: which hold such times to 250 ns only: its span and idle time are 48 ns too long.
ABSOLUTE: Final = (
    "kineto/facebookresearch+HolisticTraceAnalysis/tests/data/ns_resolution_trace/"
    "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
)


def every_row(shared: Path) -> list[dict[str, str]]:
    text = (shared / "expected" / "kineto.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    return list(rows)


def attempts() -> Any:
    return Attempts.create_empty().lazy()


@cache
def measured(path: Path) -> Mapping[str, Any]:
    """What a whole trace took, over all of its devices."""
    return whole(rows_of(Kernels, path))


@cache
def with_memset_as_compute(path: Path) -> Mapping[str, Any]:
    """The same, with copies told apart as TraceLens does: setting memory computes."""
    sets = (pl.col("category") == "memory") & pl.col("name").str.contains("Memset")
    category = pl.when(sets).then(pl.lit("compute")).otherwise("category")
    return whole(rows_of(Kernels, path).with_columns(category=category))


def whole(kernels: pl.LazyFrame) -> Mapping[str, Any]:
    rows = measure_overlap(Kernels.cast(kernels), attempts())
    whole_trace = rows.filter(pl.col("step").is_null())
    assert whole_trace.height == 1
    return MappingProxyType(whole_trace.to_dicts()[0])
