"""Rows on stdout in four formats."""

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import polars as pl
import pytest

from ingest.errors import SettingError
from ingest.tables import TABLES
from pipeline import answers

ROWS = pl.DataFrame(
    {
        "n": [1, None],
        "x": [0.1, float("nan")],
        "total": [Decimal(7 * 10**30), Decimal(0)],
        "text": ["a,b\n\x1b[31m", '<img src=x onerror="alert(1)">'],
        "many": [[1, 2], []],
        "at": [datetime(2026, 1, 2, tzinfo=UTC), None],
    },
    schema_overrides={"total": pl.Decimal(38, 0)},
)


def test_table_shows_every_row_whole_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers.write(ROWS, "table")
    text = capsys.readouterr().out
    head, rule, *rows = text.splitlines()
    assert head.split() == ["n", "x", "total", "text", "many", "at"]
    assert set(rule) == {"-", " "}
    assert len(rows) == 2
    assert "7000000000000000000000000000000" in rows[0]
    assert "a,b \\x1b[31m" in rows[0]
    assert '<img src=x onerror="alert(1)">' in rows[1]


def test_json_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    answers.write(ROWS, "json")
    first, second = json.loads(capsys.readouterr().out)
    assert first["total"] == 7 * 10**30
    assert first["many"] == [1, 2]
    assert first["at"] == "2026-01-02T00:00:00+00:00"
    assert second["x"] is None
    assert second["n"] is None


def test_csv_reads_back(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    answers.write(ROWS, "csv")
    back = pl.read_csv(io.BytesIO(capfdbinary.readouterr().out))
    assert back.columns == ROWS.columns
    assert back["text"].to_list() == ROWS["text"].to_list()
    assert back["many"].to_list() == ["[1, 2]", "[]"]


def test_parquet_reads_back(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    answers.write(ROWS, "parquet")
    back = pl.read_parquet(io.BytesIO(capfdbinary.readouterr().out))
    assert back.equals(ROWS)


@pytest.mark.parametrize("form", ["table", "json", "csv", "parquet"])
def test_no_rows_are_an_answer(form: answers.Format) -> None:
    answers.write(ROWS.clear(), form)


def test_dictionary_names_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    for table in TABLES:
        answers.describe_table(table.sql_name(), TABLES)
        text = capsys.readouterr().out
        assert all(f"\n{name} " in text for name in table.column_names())
    with pytest.raises(SettingError, match=r"table\. Did you mean kernels\?"):
        answers.describe_table("kernel", TABLES)
