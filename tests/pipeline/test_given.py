"""Days whose rows are made: scanned as if they were files."""

from collections.abc import Iterator, Sequence

import polars as pl
import pytest

from ingest.staging import Place
from ingest.tables import PowerSamples
from pipeline._given import GivenDay

S = 10**9


@pytest.fixture
def asked() -> list[tuple[list[str], str | None]]:
    """What was asked for: columns, and what must hold."""
    return []


@pytest.fixture
def rows(asked: list[tuple[list[str], str | None]]) -> pl.LazyFrame:
    """Three windows of two samples each, of 100, 110, 120 W and so on."""

    def find(columns: Sequence[str], wanted: pl.Expr | None) -> Iterator[pl.DataFrame]:
        asked.append((list(columns), None if wanted is None else str(wanted)))
        for window in range(3):
            number = pl.Series([2 * window, 2 * window + 1], dtype=pl.Int64)
            made = PowerSamples.create_empty().clear(2)
            told = made.with_columns(
                time_ns=number * S,
                power_average_w=number * 10.0 + 100,
                host=pl.lit("a"),
            )
            yield (told if wanted is None else told.filter(wanted)).select(columns)

    given = GivenDay(PowerSamples, Place("pod", "1970-01-01"), "", 6, _unread, find)
    return given.scan(find)


def _unread(*_: object) -> Iterator[pl.DataFrame]:
    raise AssertionError


def test_only_what_is_wanted_is_made(
    rows: pl.LazyFrame, asked: list[tuple[list[str], str | None]]
) -> None:
    found = rows.filter(pl.col("time_ns") >= 3 * S).select("power_average_w").collect()
    assert found["power_average_w"].to_list() == [130, 140, 150]
    ((columns, wanted),) = asked
    assert set(columns) <= {"time_ns", "power_average_w"}
    assert wanted is not None
    assert "time_ns" in wanted


def test_all_columns_of_the_table_are_there(rows: pl.LazyFrame) -> None:
    found = rows.collect()
    assert found.schema == PowerSamples.create_empty().schema
    assert found.height == 6


def test_no_more_rows_than_are_asked_for(rows: pl.LazyFrame) -> None:
    found = rows.select("time_ns").head(3).collect()
    assert found["time_ns"].to_list() == [0, S, 2 * S]
