"""Real traces and small made ones against an exact sweep written apart, and by hand.

The values are those of shared/expected/kineto.tsv: with the evidence independent_exact
(16 traces, 13 values each), hand_computed (13 values), and what the tests of peers
expect (251 values), of which those are explained that the peer has wrong or that are
about something else than reading. `pytest -s` prints how many are which.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import polars as pl
import pytest

from analysis.collective_waits import measure_waits
from analysis.late_ranks import LateRanks, find_late_ranks
from analysis.overlap import measure_overlap
from ingest.tables import Collectives, Kernels
from tests.published.kineto_answers import (
    ANNOTATIONS,
    ARGUMENTS,
    EVENTS,
    HOST,
    LAUNCHES,
    MADE_STEPS,
    RANKS,
    answer_of,
    reason_of,
)
from tests.published.kineto_peers import TIMELINE
from tests.published.kineto_rows import (
    ABSOLUTE,
    attempts,
    every_row,
    measured,
    with_memset_as_compute,
)
from tests.published.traces import read, rows_of, traces

pytestmark = pytest.mark.thorough

DLRM: Final = "kineto/facebookresearch+param"

#: Metric of the table to the column that answers it. [ns]
COLUMNS: Final = MappingProxyType(
    {
        "span_ns": "span_ns",
        "busy_ns": "busy_ns",
        "idle_ns": "idle_ns",
        "compute_union_ns": "compute_ns",
        "comm_union_ns": "communication_ns",
        "mem_union_ns": "memory_ns",
        "comp_comm_overlap_ns": "overlapped_ns",
        "exposed_comm_ns": "exposed_communication_ns",
        "exposed_mem_ns": "exposed_memory_ns",
        "n compute kernels": "compute_count",
        "n comm kernels": "communication_count",
        "n memcpy+memset": "memory_count",
    }
)
OVERLAP: Final = "overlap_pct = 100*ov/comm"

BY_FLOATS: Final = frozenset({(ABSOLUTE, "span_ns"), (ABSOLUTE, "idle_ns")})


FLOATS: Final = "times held as floats in the table itself"

#: How many figures are matched, and how many explained, by their evidence.
COUNTS: Final = MappingProxyType(
    {
        ("independent_exact", "matched"): 206,
        ("independent_exact", "explained"): 2,
        ("hand_computed", "matched"): 13,
        ("peer_golden_file", "matched"): 122,
        ("peer_golden_file", "explained"): 26,
        ("peer_unit_test", "matched"): 37,
        ("peer_unit_test", "explained"): 66,
    }
)

#: How many are explained by what.
SORTS: Final = MappingProxyType(
    {
        HOST: 53,
        MADE_STEPS: 11,
        LAUNCHES: 10,
        ANNOTATIONS: 7,
        EVENTS: 6,
        ARGUMENTS: 3,
        RANKS: 2,
        FLOATS: 2,
    }
)

ACROSS_TOOLS: Final = re.compile(r"use ([\d.e-]+) across tools")
NUMBER: Final = re.compile(r"([\d.e-]+)")


def to_digits(value: float, printed: str) -> str:
    return f"{value:.{len(printed.partition('.')[2])}f}"


def swept(path: Path, row: Mapping[str, str]) -> str:
    found = measured(path)
    if row["metric"] == OVERLAP:
        ratio = found["overlap_ratio"]
        return "" if ratio is None else to_digits(100 * ratio, row["expected"])
    value = found[COLUMNS[row["metric"]]]
    is_by_floats = (row["file"], row["metric"]) in BY_FLOATS
    return str(value + 48 if is_by_floats else value)


def answered(path: Path, row: Mapping[str, str]) -> object:
    """What the rows of a trace give for one figure."""
    if row["evidence"] == "independent_exact":
        return swept(path, row)
    if row["evidence"] == "hand_computed":
        return BY_HAND[row["metric"]](path)
    if row["analysis"] == "gpu_timeline":
        return with_memset_as_compute(path)[TIMELINE[row["metric"]]] / 1e6
    found = answer_of(f"{row['analysis']}: {row['metric']}")
    return found and found[0](path, found[1])


def tolerance(row: Mapping[str, str]) -> float:
    """How far a figure may be off: as it is told, or half of its last digit."""
    told = ACROSS_TOOLS.search(row["tolerance"]) or NUMBER.match(row["tolerance"])
    digits = len(row["expected"].partition(".")[2])
    rounded = 0.5 * 10.0**-digits if row["evidence"].startswith("peer") else 0
    return max(float(told[1]) if told else 0, rounded)


def fits(got: object, row: Mapping[str, str]) -> bool:
    if got == row["expected"]:
        return True
    try:
        return abs(float(str(got)) - float(row["expected"])) <= tolerance(row)
    except ValueError:
        return False


class Outcome(NamedTuple):
    """What became of one figure: matched, explained (and why), or failed."""

    evidence: str
    how: str
    why: str


def outcome(shared: Path, row: Mapping[str, str]) -> Outcome:
    figure = f"{row['analysis']}: {row['metric']}"
    reason = reason_of(row["file"], figure)
    if reason and row["evidence"].startswith("peer"):
        return Outcome(row["evidence"], "explained", reason.sort)
    got = answered(shared / "data" / row["file"], row)
    if not fits(got, row):
        told = f"{row['file']} {figure}: {got} for {row['expected']}"
        return Outcome(row["evidence"], "failed", told)
    if (row["file"], row["metric"]) in BY_FLOATS:
        return Outcome(row["evidence"], "explained", FLOATS)
    return Outcome(row["evidence"], "matched", "")


def test_every_figure_is_matched_or_explained(shared: Path) -> None:
    found = [outcome(shared, row) for row in every_row(shared)]
    counts = Counter((one.evidence, one.how) for one in found)
    reasons = Counter(one.why for one in found if one.how == "explained")
    total = Counter(one.how for one in found)
    lines = [f"{kind}: {count} {how}" for (kind, how), count in sorted(counts.items())]
    lines += [f"  {count:3} explained by {why}" for why, count in reasons.most_common()]
    lines.append(f"all: {dict(total)}")
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    assert [one.why for one in found if one.how == "failed"] == []
    assert counts == COUNTS
    assert reasons == SORTS


def straggler(folder: Path) -> set[int]:
    found = measure_waits(
        Collectives.cast(rows_of(Collectives, *traces(folder))), attempts()
    )
    return set(found["last_rank"].to_list())


def late_us_per_step(folder: Path) -> float:
    rows = Collectives.cast(rows_of(Collectives, *traces(folder)))
    found = measure_waits(rows, attempts())
    (late,) = found.group_by("step").agg(pl.col("late_ns").sum())["late_ns"].unique()
    return float(late) / 1_000


def ranks(folder: Path) -> set[int]:
    return set(rows_of(Kernels, *traces(folder)).collect()["rank"].to_list())


def offset_s(folder: Path) -> float:
    first, second = (read(path)[Kernels]["start_ns"].min() for path in traces(folder))
    return (int(str(second)) - int(str(first))) / 10**9


#: Metric of a made trace to what answers it.
BY_HAND: Final[Mapping[str, Callable[[Path], object]]] = MappingProxyType(
    {
        "idle_us": lambda path: measured(path)["idle_ns"] / 1_000,
        "compute_us": lambda path: measured(path)["compute_ns"] / 1_000,
        "comm_us": lambda path: measured(path)["communication_ns"] / 1_000,
        "busy_us": lambda path: measured(path)["busy_ns"] / 1_000,
        "span_us": lambda path: measured(path)["span_ns"] / 1_000,
        "overlap_pct": lambda path: round(100 * measured(path)["overlap_ratio"], 4),
        "ranks found": lambda path: len(ranks(path)),
        "rank1 - rank0 wall offset s": offset_s,
        "straggler rank": lambda path: next(iter(straggler(path))),
        "late by us per step": late_us_per_step,
    }
)


def test_the_made_stragglers_are_named_alone(shared: Path) -> None:
    for folder in ("straggler_modern", "straggler_old"):
        assert straggler(shared / "data" / "kineto" / "micro" / folder) == {1}


def test_dlrm_rank_7_is_late_and_nobody_else(shared: Path) -> None:
    # TraceLens: waits in us; HTA must name two ranks and says 2 and 7
    paths = traces(shared / "data" / DLRM)
    found = find_late_ranks(
        Collectives.cast(rows_of(Collectives, *paths)), attempts()
    ).sort("rank")
    assert found["collectives_count"].to_list() == [8] * 8
    waits = [wait // 1_000 for wait in found["wait_ns"]]
    assert waits == [5580, 11125, 3280, 9571, 6370, 6041, 3342, 1534]
    assert found.filter("is_late")["rank"].to_list() == [7]
    assert found.filter(rank=7)["last_count"].to_list() == [5]
    assert LateRanks.is_valid(found)


@pytest.mark.parametrize("rank", range(8))
def test_a_step_adds_up_on_every_rank_of_dlrm(shared: Path, rank: int) -> None:
    path = traces(shared / "data" / DLRM)[rank]
    rows = measure_overlap(Kernels.cast(rows_of(Kernels, path)), attempts())
    parts = ("compute", "exposed_communication", "exposed_memory", "idle")
    total = pl.sum_horizontal(f"{part}_ns" for part in parts)
    assert rows.filter(total != pl.col("span_ns")).is_empty()
