"""Llama 3's interruptions as a list that operators keep, through the product to rates.

466 stops in 54 days on 16,384 GPUs: 47 planned, 419 not, by component as table 5 of
arXiv 2407.21783 counts them. The list and the scheduler's attempts are what is known.

    run   |--------|--------|-- ... --|--------|     467 attempts of 54 d / 467
    list  |        x        x         x              at the end of all but the last
"""

import random
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import polars as pl
import pytest

from analysis import (
    Analysis,
    Frames,
    attempts,
    gpus,
    incidents,
    interrupt_rates,
    interruptions,
    rate_comparisons,
    rate_projections,
    runs,
)
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.published_rates import LLAMA_3_AS_OURS, LLAMA_3_CAUSES
from analysis.rate_comparisons import RateComparisons
from analysis.rate_projections import RateProjections
from ingest.sources import interruption_list
from ingest.tables import Failures, Jobs, RunCards, Table
from ingest.times import SECOND_NS
from tests.ingest.readings import held, read_lines, refused, rows

HOUR_NS: Final = 3_600 * SECOND_NS
START: Final = datetime(2024, 4, 1, tzinfo=UTC)
PLANNED: Final = 47

#: 54 days in 467 pieces.
PIECE: Final = timedelta(days=54) / 467

CHAIN: Final[tuple[Analysis, ...]] = (
    attempts.ANALYSIS,
    runs.ANALYSIS,
    gpus.ANALYSIS,
    incidents.ANALYSIS,
    interruptions.ANALYSIS,
    interrupt_rates.ANALYSIS,
    rate_comparisons.ANALYSIS,
    rate_projections.ANALYSIS,
)


def listed() -> list[str]:
    """Lines of the list, causes in an order of chance."""
    causes = [
        f"no,{category},{component},"
        for component, category, count, _ in LLAMA_3_CAUSES
        for _ in range(count)
    ]
    causes += ["yes,Maintenance,Firmware,upgrade of firmware"] * PLANNED
    random.Random(3).shuffle(causes)
    ends = [START + PIECE * (number + 1) for number in range(len(causes))]
    stamps = [f"{end:%Y-%m-%dT%H:%M:%SZ}" for end in ends]
    return [f"{stamp},{cause}" for stamp, cause in zip(stamps, causes, strict=True)]


def ns(instant: datetime) -> int:
    return round(instant.timestamp() * 1000) * 10**6


def job(number: int) -> dict[str, Any]:
    return {
        "file_id": "f",
        "cluster": "meta",
        "run_id": "llama3",
        "job_id": f"{number}",
        "start_ns": ns(START + PIECE * number),
        "end_ns": ns(START + PIECE * (number + 1)),
        "state": "FAILED" if number < 466 else "COMPLETED",
        "node_count": 2048,
        "gpu_count": 16_384,
        "hosts": "",
    }


def frame(table: type[Table], told: list[dict[str, Any]]) -> pl.LazyFrame:
    schema = table.create_empty().schema
    known = [{name: row.get(name) for name in schema} for row in told]
    return pl.DataFrame(known, schema=schema).lazy()


@pytest.fixture(scope="module")
def tables() -> dict[type[Table], pl.LazyFrame]:
    """All tables, from the list to the rates."""
    header = "start,planned,category,component,cause"
    batches = read_lines(interruption_list.SOURCE, header, *listed(), cluster="meta",
                         run_id="llama3")  # fmt: skip
    assert not refused(batches)
    card = {"run_id": "llama3", "cluster": "meta", "gpus": 16_384, "gpus_per_node": 8,
            "billing": "allocated"}  # fmt: skip
    found = {
        Failures: frame(Failures, rows(held(batches), Failures)),
        Jobs: frame(Jobs, [job(number) for number in range(467)]),
        RunCards: frame(RunCards, [card]),
    }
    for one in CHAIN:
        results = one.compute(Frames(found), one.thresholds)
        found |= {table: rows.lazy() for table, rows in results.items()}
    return found


def of_run(tables: dict[type[Table], pl.LazyFrame], **told: str) -> pl.DataFrame:
    of_stops = {"level": "interruption", "scope": "run", **told}
    return tables[InterruptRates].filter(**of_stops).collect()


def test_the_rate_of_the_paper(tables: dict[type[Table], pl.LazyFrame]) -> None:
    row = of_run(tables, category="all", component="all").row(0, named=True)
    assert row["count"] == 419
    hours = [
        round(float(row[name]) / HOUR_NS, 3)
        for name in ("mtbf_ns", "mtbf_low_ns", "mtbf_high_ns")
    ]
    assert hours == [3.093, 2.811, 3.412]
    assert round(row["per_1000_node_days"], 3) == 3.789
    assert round(row["per_1000_node_days_low"], 2) == 3.43
    assert round(row["per_1000_node_days_high"], 2) == 4.17


def test_planned_stops_are_beside_it(tables: dict[type[Table], pl.LazyFrame]) -> None:
    (planned,) = of_run(tables, category="planned", component="all")["count"]
    assert planned == PLANNED
    assert tables[Interruptions].collect().height == 466


def test_components_have_the_counts_of_table_5(
    tables: dict[type[Table], pl.LazyFrame],
) -> None:
    stops = tables[Interruptions].filter(~pl.col("planned")).collect()
    codes = stops["cause"].str.extract(r"^operator (\w+)").value_counts()
    found = dict(codes.iter_rows())
    wanted = {
        "_".join(re.findall(r"[a-z0-9]+", component.lower())): count
        for component, _, count, _ in LLAMA_3_CAUSES
    }
    assert found == wanted
    assert round(100 * found["faulty_gpu"] / stops.height, 1) == 35.3


def test_weeks_add_up_to_the_whole(tables: dict[type[Table], pl.LazyFrame]) -> None:
    weeks = tables[InterruptRates].filter(
        level="interruption", scope="week", category="all", run_id="llama3"
    )
    found = weeks.collect()
    assert found["count"].sum() == 419
    assert float(found["exposure_ns"].sum()) == 54 * 24 * HOUR_NS
    # 1 April 2024 is a Monday: seven whole weeks and five days
    ordered = found.sort("scope_id")
    assert ordered["scope_id"][0] == "2024-W14"
    days = [float(ns) / HOUR_NS / 24 for ns in ordered["exposure_ns"]]
    assert days == [7, 7, 7, 7, 7, 7, 7, 5]


def test_it_is_no_different_from_itself(
    tables: dict[type[Table], pl.LazyFrame],
) -> None:
    rows = tables[RateComparisons].filter(peer="Llama 3, H100", scope="run").collect()
    (row,) = rows.to_dicts()
    assert (row["count"], row["peer_count"]) == (419, 419)
    assert row["rate_ratio"] == pytest.approx(1)
    assert row["low_rate_ratio"] < 1 < row["high_rate_ratio"]
    assert row["verdict"] == "not_told_apart"


def test_it_projects_to_itself(tables: dict[type[Table], pl.LazyFrame]) -> None:
    rows = tables[RateProjections].filter(level="interruption").collect()
    hours = {
        gpus: float(ns) / HOUR_NS
        for gpus, ns in rows.select("gpus", "mtbf_ns").iter_rows()
    }
    assert round(hours[16_384], 3) == 3.093
    assert hours[8_192] == pytest.approx(2 * hours[16_384])


def test_categories_are_those_that_stand_beside_ours(
    tables: dict[type[Table], pl.LazyFrame],
) -> None:
    found = of_run(tables, component="all").filter(
        ~pl.col("category").is_in(["all", "planned"])
    )
    assert dict(found.select("category", "count").iter_rows()) == LLAMA_3_AS_OURS
    # hardware and network together are 324 of 419, 77.3 %: the paper's 78 % are its own
    of_machines = LLAMA_3_AS_OURS["hardware"] + LLAMA_3_AS_OURS["network"]
    assert (of_machines, round(100 * of_machines / 419, 1)) == (324, 77.3)
