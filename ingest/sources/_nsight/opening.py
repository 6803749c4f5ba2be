"""Open an SQLite file of somebody else so that nothing of it can run or be changed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from ingest.sources._nsight.database import Database

_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
_FUNCTIONS: Final = frozenset({"substr", "like"})
_PRAGMAS: Final = frozenset({"table_info"})


@contextmanager
def open_database(path: Path) -> Iterator[Database]:
    """Open a file that is neither written nor locked; what lies beside it is not read.

    Raises:
        sqlite3.Error: If the file is no database, or its schema is broken.
    """
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.set_authorizer(_authorize)
        yield Database(connection, path.stat().st_size)


def _authorize(
    action: int,
    first: str | None,
    second: str | None,
    _database: str | None,
    inner: str | None,
) -> int:
    """Allow reading columns, but not from within a view or a trigger."""
    is_allowed = inner is None and (
        action in _ALLOWED
        or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY
