"""Any answer that DuckDB has can be written, in every form, batch by batch."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

from ingest.catalog import publish
from ingest.errors import QueryError
from ingest.lake import open_writer
from ingest.tables import TABLES
from pipeline import answers, querying


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake without rows."""
    root = tmp_path_factory.mktemp("query") / "lake"
    with open_writer(root) as writer:
        writer.commit_results({})
    publish(root, TABLES)
    return root


def cell(lake: Path, query: str) -> object:
    (frame,) = [f for f in querying.batches_of(lake, query, as_text=True) if f.height]
    return frame.item()


#: What is asked for, and what DuckDB calls it.
ODD = {
    "INTERVAL 1 DAY": "1 day",
    "union_value(a := 1)": "1",
    "TIMESTAMP 'infinity'": "infinity",
    "TIMESTAMPTZ '-infinity'": "-infinity",
    "DATE '290000-01-01'": "290000-01-01",
    "[INTERVAL 1 DAY]": "[1 day]",
    "{'a': DATE 'infinity'}": "{'a': infinity}",
    "'101'::BIT": "101",
    "'a'::BLOB": "a",
    "1::BIGNUM": "1",
    "MAP {'a': 1}": "{a=1}",
    "'x'::ENUM('x')": "x",
    "1::UHUGEINT": "1",
}


@pytest.mark.parametrize("asked", ODD)
@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_every_type_is_an_answer(lake: Path, asked: str, form: answers.Format) -> None:
    query = f"SELECT {asked} AS a"
    frames = querying.batches_of(lake, query, as_text=form != "parquet")
    answers.write(frames, form)
    assert cell(lake, query) == ODD[asked]


def test_names_that_are_there_twice_are_told_apart(lake: Path) -> None:
    rows = querying.rows_of(lake, "SELECT 1 a, 2 a, 3 a_1, INTERVAL 1 DAY a")
    assert rows.rows(named=True) == [{"a": 1, "a_2": 2, "a_1": 3, "a_3": "1 day"}]


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_large_answer_comes_in_batches(
    lake: Path, form: answers.Format, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    count = 2 * querying.ROWS_FETCHED + 1
    query = f"SELECT range AS n, [range] AS many FROM range({count})"
    heights = [frame.height for frame in querying.batches_of(lake, query)]
    assert max(heights) < count
    answers.write(querying.batches_of(lake, query), form)
    out = capfdbinary.readouterr().out
    if form == "json":
        numbers = [row["n"] for row in json.loads(out)]
    else:
        read = pl.read_csv if form == "csv" else pl.read_parquet
        numbers = read(io.BytesIO(out))["n"].to_list()
    assert numbers == list(range(count))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT '\udcff'",
        "SELECT if(range > 300000, error('x'), 1) FROM range(400000)",
    ],
)
def test_what_fails_under_way_is_one_line(lake: Path, query: str) -> None:
    with pytest.raises(QueryError, match=r"^[^\n]+$"):
        list(querying.batches_of(lake, query))
