"""Publish the views of the lake, with every table that there is."""

from pathlib import Path
from typing import Final

from analysis import RESULTS
from ingest import catalog
from ingest.lake import snapshot
from ingest.tables import TABLES, Table

#: Every table of the lake.
EVERY_TABLE: Final[tuple[type[Table], ...]] = (*TABLES, *RESULTS)

#: Rows of a lake from which an analysis takes so long that views come before it. [1]
LONG_ROWS: Final = 1_000_000


def publish(root: Path, least_rows: int = 0) -> None:
    """Build the views of a lake that was written, and swap them in.

    Args:
        root: The lake's folder.
        least_rows: Rows that its parts have, or its views stay as they are. [1]

    Raises:
        LakeError: If the lake is damaged, or the views cannot be written.
    """
    lake = snapshot(root).manifest
    if lake.generation and sum(part.rows for part in lake.parts) >= least_rows:
        catalog.publish(root, EVERY_TABLE)
