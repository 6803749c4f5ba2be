"""The lake in SQL: documented DuckDB views, swapped in after a commit."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import duckdb

from ingest import _disk
from ingest._recovery import CATALOG, refuse_unusable
from ingest._views import statements, text, texts
from ingest.errors import LakeError, QueryError
from ingest.lake import Snapshot, snapshot
from ingest.tables import Table

#: A setting of DuckDB, as its connections take it.
Config = str | bool | int | float | list[str]

#: Layout of the catalog's file: one that DuckDB shells since 1.0 can open.
_STORAGE: Final = "v1.0.0"

#: No extension is ever looked for on a network or on the disk.
_OFFLINE: Final[dict[str, Config]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}

#: How a query begins that reads. EXPLAIN ANALYZE runs what follows it, and a PIVOT
#: within COPY makes several statements of it: both may write.
#: A comment may stand before it, but none within a comment, which DuckDB would nest.
_READS: Final = re.compile(
    r"(\s|--[^\r\n]*[\r\n]|/\*((?!/\*|\*/).)*\*/)*"
    r"(explain\s+(analyze\s+)?)?"
    r"(select|from|with|pivot|unpivot|values|table|describe|summarize)\b",
    re.IGNORECASE | re.DOTALL,
)


def publish(root: Path, tables: Sequence[type[Table]]) -> None:
    """Build the views of the lake's newest generation and swap them in.

    Args:
        root: The lake's folder.
        tables: Tables that get a view, those without rows too.

    Raises:
        LakeError: If the manifest or a part is damaged, the folder's name cannot be
            used, or the disk is full.
    """
    refuse_unusable(root)
    lake = snapshot(root)
    with _disk.replacing(root / CATALOG) as partial:
        try:
            _build(partial, lake, tables)
        except duckdb.Error as error:
            message = (
                f"{root / CATALOG}: the views cannot be written ({error}); make room in"
                " the lake's folder, then run gpuledger analyze to build them"
            )
            raise LakeError(message) from error
        finally:
            partial.with_name(f"{partial.name}.wal").unlink(missing_ok=True)
        with partial.open("rb") as file:
            _disk.sync(file)


def _build(file: Path, lake: Snapshot, tables: Sequence[type[Table]]) -> None:
    config = _OFFLINE | {"storage_compatibility_version": _STORAGE}
    with duckdb.connect(file, config=config) as connection:
        _search_in(connection, lake.root)
        connection.begin()
        for table in tables:
            for statement in statements(lake, table):
                connection.execute(statement)
        connection.commit()
        # closing would do this too, but would not tell that it failed
        connection.execute("CHECKPOINT")


def open_catalog(root: Path) -> duckdb.DuckDBPyConnection:
    """Open the views for reading, from any folder, wherever the lake is now.

    A query can read the parts of the lake and no other file, and can load nothing.
    What it could still do, write over one of the parts, `run_query` refuses.

    Raises:
        LakeError: If there is no lake, or its views cannot be opened.
    """
    refuse_unusable(root)
    if not (root / CATALOG).exists():
        message = f"{root}: expected a lake with {CATALOG}; ingest something first"
        raise LakeError(message)
    connection = duckdb.connect(config=_OFFLINE)
    try:
        connection.execute("SET python_enable_replacements = false")
        # DuckDB draws it on stdout, into the answer, once a query takes two seconds
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"ATTACH {text(root / CATALOG)} AS lake (READ_ONLY)")
        connection.execute("USE lake")
        _search_in(connection, root)
        _confine(connection, root)
    except BaseException as error:
        connection.close()
        if isinstance(error, duckdb.Error):
            raise _unusable(root / CATALOG, error) from error
        raise
    return connection


def parsed(query: str) -> str:
    """Return the tree of a query as DuckDB parses it, in JSON; nothing of it is run.

    Args:
        query: Any text; of one that is no query, or that only describes, the tree is
            an error.
    """
    with duckdb.connect(config=_OFFLINE) as connection:
        found = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    return str(found[0][0])


def _unusable(catalog: Path, error: duckdb.Error) -> LakeError:
    return LakeError(
        f"{catalog}: expected the views of a lake ({error}); delete it, then run"
        " gpuledger analyze to build it again"
    )


def run_query(
    connection: duckdb.DuckDBPyConnection, query: str
) -> duckdb.DuckDBPyRelation:
    """Run one statement that reads.

    Raises:
        QueryError: If the query is anything else, or DuckDB refuses it.
    """
    try:
        query.encode()
        statements = duckdb.extract_statements(query)
        if len(statements) != 1 or not _only_reads(statements[0]):
            message = "expected one query that reads, such as SELECT or DESCRIBE"
            raise QueryError(message)
        return connection.sql(query)
    except UnicodeEncodeError as error:
        message = "expected a query in UTF-8; correct the bytes that are not"
        raise QueryError(message) from error
    except duckdb.Error as error:
        raise QueryError(str(error)) from error


def _only_reads(statement: duckdb.Statement) -> bool:
    kinds = duckdb.StatementType
    if statement.type in {kinds.EXPLAIN, kinds.MULTI}:
        return _READS.match(statement.query) is not None
    return bool(statement.type == kinds.SELECT)


def _search_in(connection: duckdb.DuckDBPyConnection, root: Path) -> None:
    connection.execute(f"SET file_search_path = {text(root.absolute())}")


def _confine(connection: duckdb.DuckDBPyConnection, root: Path) -> None:
    """Shut every file but those of the views.

    DuckDB asks for a path as it is in the view, and then for the one it has found.
    """
    lake = snapshot(root).manifest
    paths = [part.path for part in lake.parts]
    paths += [part.path for part in lake.replaced]
    found = [str(root.absolute() / path) for path in paths]
    spill = Path(tempfile.gettempdir()) / f"gpuledger-{_disk.PROCESS}"
    connection.execute(f"SET temp_directory = {text(spill)}")
    connection.execute(f"SET allowed_paths = {texts([*paths, *found])}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
