"""What a transfer takes without bytes, for each byte, and at its worst."""

import re
from collections import Counter
from typing import Final

import polars as pl

from analysis import Frames
from analysis.bandwidth_checks import BandwidthChecks
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes
from analysis.latency_models import LatencyModels
from reports import _busbw_chart, _latency_listings
from reports._latency_shown import bandwidth, fixed_part, labels, message, shown
from reports._numbers import duration, grouped, significant
from reports._section import Content, Scope, Section
from reports._words import plural

#: Transfers of one size that a tail needs where no threshold says so. [1]
_TAIL_COUNT: Final = 100

#: From so much on a size is said to be off the line. [1]
_OFF_FROM: Final = 1.2

#: Reason of a series with too few sizes.
_FEW_SIZES: Final = re.compile(r"([0-9]+) of the ([0-9]+) sizes that a line needs")


def build(frames: Frames, scope: Scope) -> Content:
    """Return the lines of transfers by size, and what speaks against them."""
    series = shown(scope.of_runs(frames[LatencyAnatomy]))
    if series.is_empty():
        return Content(
            heading="How long transfers take, and how fast links are, is not known.",
            empty="Profiler traces of all ranks of a group hold transfers by size, and"
            " so do the tables of nccl-tests.",
        )
    least = scope.provenance.thresholds.get("latency_tail_count", _TAIL_COUNT)
    models = scope.of_runs(frames[LatencyModels]).collect()
    checks = scope.of_runs(frames[BandwidthChecks])
    return Content(
        heading=_heading(series),
        paragraphs=[
            *_off(series),
            *_without(series),
            *_tails(series, least),
            *_checked(checks),
        ],
        charts=_busbw_chart.chart(series, scope.of_runs(frames[LatencySizes]), scope),
        listings=_latency_listings.listings(series, models, scope),
    )


def _heading(series: pl.DataFrame) -> str:
    row, who = series.row(0, named=True), labels(series)[0]
    if row["beta_gbs"] is None:
        of_size = row["typical_bytes"] is not None
        at = f" of {message(row['typical_bytes'])}" if of_size else ""
        return (
            f"{duration(row['p50_ns'])} for a transfer{at} (median): {who}; how much of"
            " it is fixed is not known."
        )
    fixed = fixed_part(row)
    return (
        f"{fixed[0].upper()}{fixed[1:]} for a transfer without bytes,"
        f" {bandwidth(row)} for an endless one: {who}."
    )


def _off(series: pl.DataFrame) -> list[str]:
    """Return where one line does not fit the series of the heading."""
    row = series.row(0, named=True)
    worst = row["worst_ratio"]
    if worst is None or worst < _OFF_FROM:
        return []
    text = (
        f"One line does not fit all sizes: at {message(row['worst_bytes'])} a transfer"
        f" takes {significant(worst)} times its line. Libraries change protocol and"
        " algorithm with the size; the fixed part is that of small messages, the"
        " bandwidth that of large ones."
    )
    return [text]


def _without(series: pl.DataFrame) -> list[str]:
    """Return how many series have no line, and why."""
    bare = series.filter(pl.col("beta_gbs").is_null())
    reasons = Counter(bare["reason"].drop_nulls().to_list())
    if not reasons:
        return []
    why = "; ".join(_why(reason, n) for reason, n in sorted(reasons.items()))
    which = (
        "No series has a line"
        if bare.height == series.height
        else f"{bare.height} of {series.height} series have no line"
    )
    return [f"{which}: {why}."]


def _why(reason: str, count: int) -> str:
    """Return why some series have no line; where sizes lack, in a sentence."""
    few = _FEW_SIZES.fullmatch(reason)
    if few is None:
        return f"{reason} ({grouped(count)} series)"
    seen, needed = few.groups()
    have = plural(count, "has transfers", "have transfers")
    return f"a line needs {needed} sizes, and {have} of {plural(int(seen), 'size')}"


def _tails(series: pl.DataFrame, least: float) -> list[str]:
    """Return how many series have transfers enough of one size for a tail."""
    told = series["tail_ns"].count()
    if told == series.height:
        return []
    needed = grouped(int(least))
    have = plural(series.height, "series has", "series have")
    return [f"A tail needs {needed} transfers of one size: {told} of {have} one."]


def _checked(checks: pl.LazyFrame) -> list[str]:
    """Return how the busbw that benchmarks print agrees with sizes and times."""
    found = checks.group_by("busbw_agreement").agg(rows=pl.len()).collect()
    counts = dict(found.iter_rows())
    compared = sum(n for word, n in counts.items() if word != "not_comparable")
    if not compared:
        return []
    near, off = counts.get("within_rounding", 0), counts.get("differs", 0)
    text = (
        "Recomputed from size and time, busbw equals the printed digits in"
        f" {grouped(counts.get('exact', 0))} of {plural(compared, 'row')} of"
        f" benchmarks. {grouped(near)} differ by no more than the rounding of the"
        f" printed time, {grouped(off)} by more."
    )
    guessed = checks.filter(pl.col("ranks_basis") == "bandwidths").select(pl.len())
    if int(guessed.collect().item()):
        text += (
            " Where a table does not name its ranks, their number is the only one that"
            " the printed bandwidths leave."
        )
    return [text]


SECTION: Final = Section(
    "latency_anatomy",
    "Links",
    (LatencyAnatomy, LatencySizes, LatencyModels, BandwidthChecks),
    build,
)
