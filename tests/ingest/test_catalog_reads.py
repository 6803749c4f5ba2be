"""A query can read the lake, and do nothing else."""

from pathlib import Path

import polars as pl
import pytest

from ingest.catalog import open_catalog, publish
from ingest.errors import LakeError, QueryError
from ingest.lake import open_writer, snapshot
from ingest.tables import TABLES, TrainingMetrics
from tests.ingest.tiny import query


@pytest.fixture
def root(published: Path) -> Path:
    return published


FORBIDDEN = (
    "COPY (SELECT 1) TO '{out}'",
    "COPY (SELECT 1) TO '{part}' (FORMAT csv, USE_TMP_FILE false)",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}' (FORMAT csv, USE_TMP_FILE false)",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}'",
    "CREATE TABLE t AS SELECT 1",
    "CREATE TABLE memory.t AS SELECT 1",
    "DROP VIEW training_metrics",
    "COPY (PIVOT training_metrics ON step USING sum(loss)) TO '{out}'",
    "/* a */ EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}' (FORMAT csv)",
    "/* /* */ EXPLAIN SELECT 1 */ EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}'",
    "-- EXPLAIN SELECT\nEXPLAIN ANALYZE COPY (SELECT 1) TO '{part}' (FORMAT csv)",
    "EXPLAIN ANALYZE COPY (PIVOT training_metrics ON step) TO '{part}' (FORMAT csv)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SELECT 1; COPY (SELECT 1) TO '{part}' (FORMAT csv, USE_TMP_FILE false)",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM glob('{secret}*')",
    "SELECT * FROM secret_frame",
    "SELECT 1 FROM nothing",
    "SELEC",
    "",
    "-- nothing",
    "SELECT '\udcff'",
)


@pytest.mark.thorough
@pytest.mark.parametrize("text", FORBIDDEN)
def test_a_query_can_only_read_the_lake(root: Path, tmp_path: Path, text: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    secret_frame = pl.DataFrame({"a": [1]})
    part = (root / snapshot(root).parts(TrainingMetrics)[0].path).absolute()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    names = {"out": tmp_path / "out.csv", "part": part, "secret": secret}
    quoted = {name: str(path).replace("'", "''") for name, path in names.items()}
    with pytest.raises(QueryError):
        query(root, text.format(**quoted))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    assert not secret_frame.is_empty()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "FROM training_metrics",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "VALUES (1)",
        "DESCRIBE training_metrics",
        "SHOW TABLES",
        "SUMMARIZE training_metrics",
        "EXPLAIN SELECT 1",
        "/* x */ -- y\n EXPLAIN SELECT 1",
        "explain analyze from training_metrics",
        "SELECT * FROM (PIVOT training_metrics ON step USING sum(loss))",
        "SELECT 'a; COPY b TO c';",
    ],
)
def test_any_query_that_reads_is_run(root: Path, text: str) -> None:
    assert query(root, text)


def test_a_lake_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match=r"^[^\n]*ingest something first$"):
        open_catalog(tmp_path / "none")


@pytest.mark.parametrize("name", ["a,b", "a?b"])
def test_a_folder_that_duckdb_cannot_open_is_refused(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    with pytest.raises(LakeError, match="DuckDB cannot open"), open_writer(root):
        pass
    assert not root.exists()
    with pytest.raises(LakeError, match="DuckDB cannot open"):
        publish(root, TABLES)
