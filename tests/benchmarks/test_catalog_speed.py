"""Questions of the README over 54 days of 16,384 GPUs, each in less than a second.

The rows are rollups of the right shape, written directly; BENCH_SCALE makes more days.
"""

import re
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from ingest.catalog import open_catalog, run_query
from ingest.lake import snapshot
from pipeline import publishing
from tests.benchmarks._fleet_lake import write_rollups
from tests.benchmarks._peak import peak_mb
from tests.benchmarks.bench_history import Row, scale

pytestmark = pytest.mark.benchmark

#: Most that a question, a publication or a snapshot may take. [s]
MOST_S = 1.0

RANKS, DAYS = 16_384, max(round(54 * scale()), 1)

#: Reads what a question cannot do without: the limit.
PLAIN = "SELECT sum(typical_work_ns) FROM rank_hours"

README = Path(__file__).parents[2] / "README.md"


def questions() -> dict[str, str]:
    """Return the questions of the README over a long run, by what they ask."""
    told = README.read_text(encoding="utf-8")
    [block] = re.findall(r"```sql\n(-- GPU-hours.*?)```", told, re.DOTALL)
    found = re.findall(r"-- (.*?)\n(.*?);\n", block, re.DOTALL)
    assert len(found) >= 5
    return dict(found)


QUESTIONS = questions()


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
    return peak_mb()


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
