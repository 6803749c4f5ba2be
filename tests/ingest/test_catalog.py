"""The views show what the lake holds, from any folder."""

import shutil
from dataclasses import asdict
from pathlib import Path

import dataframely as dy
import duckdb
import polars as pl
import pytest

from ingest import _manifest_file
from ingest.catalog import open_catalog, publish, run_query
from ingest.lake import open_writer, snapshot
from ingest.manifest import Manifest, Part
from ingest.staging import write_parts
from ingest.tables import TABLES, Table, TrainingMetrics, comment_of
from tests.ingest.tiny import DAY, candidate, ingest, put, query

TYPES = {
    pl.String(): "VARCHAR",
    pl.Boolean(): "BOOLEAN",
    pl.Int32(): "INTEGER",
    pl.Int64(): "BIGINT",
    pl.Float64(): "DOUBLE",
}


@pytest.fixture
def root(published: Path) -> Path:
    return published


def test_views_show_what_the_lake_holds(root: Path) -> None:
    lake = snapshot(root)
    with open_catalog(root) as connection:
        for table in TABLES:
            shown = connection.sql(f"FROM {table.sql_name()} ORDER BY ALL").pl()
            held = lake.scan(table).collect()
            assert shown.schema == held.schema
            assert shown.equals(held.sort(pl.all())), table.sql_name()


def test_every_table_has_its_columns_and_comments(root: Path) -> None:
    with open_catalog(root) as connection:
        columns = connection.sql(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns()"
            " WHERE NOT internal ORDER BY table_oid, column_index"
        ).fetchall()
        views = dict(
            connection.sql(
                "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        )
    declared = [
        (table.sql_name(), name, TYPES[column.dtype], comment_of(column))
        for table in TABLES
        for name, column in table.columns().items()
    ]
    assert sorted(columns) == sorted(declared)
    assert views == {table.sql_name(): table.describe() for table in TABLES}


def test_an_empty_lake_has_typed_views(tmp_path: Path) -> None:
    with open_writer(tmp_path) as writer:
        writer.commit_results({})
    publish(tmp_path, TABLES)
    with open_catalog(tmp_path) as connection:
        for table in TABLES:
            empty = connection.sql(f"FROM {table.sql_name()}").pl()
            assert empty.equals(table.create_empty())


def test_a_lake_can_be_queried_from_anywhere_after_it_moved(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "elsewhere" / "lake"
    shutil.move(root, moved)
    monkeypatch.chdir(tmp_path)
    count = "SELECT count(*) FROM training_metrics"
    assert query(moved, count) == [(3,)]
    assert query(Path("elsewhere/lake"), count) == [(3,)]
    monkeypatch.chdir(moved)
    assert query(Path(), count) == [(3,)]


def test_a_bare_shell_in_the_folder_of_the_lake_can_query_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with duckdb.connect("gpuledger.duckdb", read_only=True) as connection:
        found = connection.sql("SELECT sum(loss) FROM training_metrics").fetchall()
    assert found == [(6.0,)]


def test_the_file_is_of_the_oldest_layout(root: Path) -> None:
    with duckdb.connect(root / "gpuledger.duckdb", read_only=True) as connection:
        tags = connection.sql(
            "SELECT tags FROM duckdb_databases() WHERE NOT internal"
        ).fetchall()
    assert "v1.0.0" in str(tags)


def test_views_join_parts_of_older_declarations(root: Path) -> None:
    # GIVEN one of two parts without a column, and with one of a smaller type
    before = snapshot(root).manifest
    part = next(p for p in before.parts if p.day == "1970-01-02")
    frame = pl.read_parquet(root / part.path, glob=False, hive_partitioning=False)
    frame.drop("skipped").cast({"step": pl.Int32}).write_parquet(root / part.path)
    size = (root / part.path).stat().st_size
    older = Part(**{**asdict(part), "fingerprint": "older", "bytes": size})
    others = [p for p in before.parts if p != part]
    _manifest_file.replace(root, Manifest(2, (older, *others)))

    # WHEN
    publish(root, TABLES)

    # THEN
    with open_catalog(root) as connection:
        shown = connection.sql("FROM training_metrics ORDER BY step").pl()
    held = snapshot(root).scan(TrainingMetrics).collect().sort("step")
    assert shown.schema == held.schema
    assert shown.equals(held)
    assert shown["step"].to_list() == [1, 2, 3]


def test_a_query_under_way_is_not_disturbed(root: Path, tmp_path: Path) -> None:
    with open_catalog(root) as connection:
        ingest(root, [candidate(put(tmp_path, "next", [f"m 1 {9 * DAY} 9"]))])
        publish(root, TABLES)
        old = run_query(connection, "SELECT sum(loss) FROM training_metrics")
        assert old.fetchall() == [(6.0,)]
    assert query(root, "SELECT sum(loss) FROM training_metrics") == [(5.0 + 9.0,)]


def test_views_of_an_interrupted_writer_still_work(root: Path, tmp_path: Path) -> None:
    # GIVEN a commit that replaced parts, after which nothing was published
    ingest(root, [candidate(put(tmp_path, "next", [f"m 1 {9 * DAY} 9"]))])
    assert query(root, "SELECT sum(loss) FROM training_metrics") == [(6.0,)]


def test_results_are_views_too(root: Path) -> None:
    class Shares(Table):
        """One row per share."""

        key = ("name",)
        name = dy.String(description='What is "shared" in it\'s name.')
        gpu_ns = dy.Decimal(38, 0, description="How much.", metadata={"unit": "ns"})

    total = 7 * 10**19
    frame = pl.DataFrame(
        {"name": ["x"], "gpu_ns": [total]}, schema=Shares.create_empty().schema
    )
    with open_writer(root) as writer:
        parts = write_parts(root, Shares, frame, "result", "k")
        writer.commit_results({Shares: parts})
    publish(root, (*TABLES, Shares))
    assert query(root, "SELECT gpu_ns FROM shares") == [(total,)]
    comments = "SELECT comment FROM duckdb_columns() WHERE table_name = 'shares'"
    assert query(root, comments)[:1] == [('What is "shared" in it\'s name.',)]


def test_nothing_is_ever_drawn_into_an_answer(published: Path) -> None:
    # DuckDB draws a progress bar on stdout when a query takes long
    with open_catalog(published) as catalog:
        setting = catalog.sql("SELECT current_setting('enable_progress_bar')")
        assert setting.fetchall() == [(False,)]
