"""Questions of the README over 54 days of 16,384 GPUs, each in less than a second.

The rows are rollups of the right shape, written directly; BENCH_SCALE makes more days.
"""

import resource
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ingest.catalog import open_catalog, run_query
from ingest.lake import snapshot
from pipeline import publishing
from tests.benchmarks._fleet_lake import write_rollups
from tests.benchmarks.bench_history import Row, scale

pytestmark = pytest.mark.benchmark

#: Most that a question, a publication or a snapshot may take. [s]
MOST_S = 1.0

RANKS, DAYS = 16_384, max(round(54 * scale()), 1)

#: Reads what a question cannot do without: the limit.
PLAIN = "SELECT sum(typical_work_ns) FROM rank_hours"

QUESTIONS = {
    "GPU-hours by day and account": """
SELECT day, category, sum(gpu_ns) / 3.6e12 AS gpu_hours
FROM lost_time GROUP BY ALL ORDER BY ALL""",
    "ranks that cost the most": """
SELECT rank, sum(typical_work_ns * known_steps) / sum(known_steps) / 1e9 AS work_s
FROM rank_hours GROUP BY rank ORDER BY work_s DESC LIMIT 10""",
    "stops by cause, with MTBF": """
SELECT component, category, count, mtbf_ns / 3.6e12 AS mtbf_hours
FROM interrupt_rates WHERE scope = 'run' AND level = 'interruption'
ORDER BY count DESC""",
    "step times by day": """
SELECT strftime(make_timestamp_ns(start_ns), '%Y-%m-%d') AS day,
       quantile_cont(duration_ns_max / 1e9, [0.5, 0.9, 0.99]) AS seconds
FROM step_rollups GROUP BY day ORDER BY day""",
    "energy by day": """
SELECT strftime(make_timestamp_ns(hour_ns), '%Y-%m-%d') AS day,
       sum(coalesce(counter_mj, average_mj, instant_mj)) / 3.6e12 AS mwh
FROM (SELECT hour_ns, sum(counter_mj) AS counter_mj, sum(average_mj) AS average_mj,
             sum(instant_mj) AS instant_mj FROM power_hours GROUP BY hour_ns)
GROUP BY day ORDER BY day""",
    "slow rank-hours": """
WITH typical AS (
  SELECT run_id, start_ns - start_ns % 3600000000000 AS hour_ns,
         median(typical_work_ns) AS peers_ns
  FROM step_rollups GROUP BY ALL
)
SELECT rank, count(*) AS slow_hours, median(typical_work_ns / peers_ns) AS work_ratio
FROM rank_hours JOIN typical USING (run_id, hour_ns)
WHERE typical_work_ns > 1.05 * peers_ns
GROUP BY rank ORDER BY slow_hours DESC LIMIT 10""",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with rollups of all ranks and days."""
    root = tmp_path_factory.mktemp("catalog") / "lake"
    write_rollups(root, RANKS, DAYS)
    return root


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Return how long something takes, and its processor time, warm. [s, s]"""
    act()
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def asked(connection: duckdb.DuckDBPyConnection, query: str) -> Callable[[], object]:
    return lambda: run_query(connection, query).fetchall()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_over_all_days_takes_less_than_a_second(
    lake: Path, question: str, add_row: Callable[[Row], None]
) -> None:
    with open_catalog(lake) as connection:
        wall, cpu = timed(asked(connection, QUESTIONS[question]))
        _, plain = timed(asked(connection, PLAIN))
    size = f"{DAYS} days of {RANKS} ranks"
    figure = f"{wall:.2f} s"
    peer = "sum of one column of rank_hours"
    add_row(Row(f"sql: {question}", size, cpu, figure, peer, plain, memory_mb()))
    assert wall < MOST_S


def test_many_parts_are_published_and_listed_in_less_than_a_second(
    tmp_path: Path,
) -> None:
    write_rollups(tmp_path, 8, 1_000)
    assert len(snapshot(tmp_path).manifest.parts) >= 3_000
    assert timed(lambda: snapshot(tmp_path))[0] < MOST_S
    assert timed(lambda: publishing.publish(tmp_path))[0] < MOST_S
