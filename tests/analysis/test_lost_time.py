"""The ledger on drawn timelines, one for each level of evidence."""

from pathlib import Path
from typing import Final

import duckdb
import polars as pl
import pytest

from analysis.attempts import Attempts, find_attempts
from analysis.lost_time import LostTime, account_time
from ingest.tables import TABLES
from tests.analysis.ledgers import Tables, booked, filled

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "lost_time"


def read(case: str) -> Tables:
    files = {table: GOLDEN / case / f"{table.sql_name()}.csv" for table in TABLES}
    return {
        table: filled(table, pl.read_csv(path, infer_schema_length=None))
        for table, path in files.items()
        if path.exists()
    }


CASES: Final = sorted(path.name for path in GOLDEN.iterdir())


@pytest.mark.parametrize("case", CASES)
def test_drawn_timeline(case: str) -> None:
    lost_time = booked(read(case))[LostTime].collect()
    expected = pl.read_csv(GOLDEN / case / "expected.csv")
    with duckdb.connect() as connection:
        connection.register("lost_time", lost_time.to_arrow())
        found = connection.sql((GOLDEN / case / "query.sql").read_text()).fetchall()
    assert found == expected.rows()


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES)
def test_portions_of_ranks_add_up_to_the_whole(case: str) -> None:
    frames = booked(read(case))
    attempts = find_attempts(frames, portion_rows=1)
    assert attempts.equals(frames[Attempts].collect())
    lost_time = account_time(frames, portion_rows=1)
    assert lost_time.equals(frames[LostTime].collect())
