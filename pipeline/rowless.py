"""Files that were read and gave no row, in words: what their source found none of."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from ingest.planning import EMPTY_SOURCE, TRUTH_SOURCE
from ingest.sources import SOURCES
from ingest.tables import IngestedFiles
from pipeline.refusals import files_in_words, named

#: Files of which no row came and none was refused, but empty ones.
_ROWLESS: Final = (IngestedFiles.rows_read.col == 0) & (
    IngestedFiles.source.col != EMPTY_SOURCE
)


def lines(files: pl.DataFrame) -> Iterator[str]:
    """Yield a line for each source of files without a row.

    Args:
        files: Rows of IngestedFiles.
    """
    found = files.filter(_ROWLESS).sort("source", "path")
    for (source,), rows in found.group_by("source", maintain_order=True):
        paths = rows[IngestedFiles.path.name].to_list()
        count = files_in_words(len(paths))
        if source == TRUTH_SOURCE:
            yield (
                f"{count} passed over, the truth about made telemetry: {named(paths)}"
            )
            continue
        them = "them" if len(paths) > 1 else "it"
        none = f"no {_wanted(source)} in {them}"
        yield f"{count} of {source} read, {none}: {named(paths)}"


def _wanted(source: object) -> str:
    """Return what a source looks for in a file, in words."""
    tables = [
        table.sql_name().replace("_", " ")
        for one in SOURCES
        if one.name == source
        for table in one.tables
    ]
    if not tables:
        return "records"
    return " or ".join([", ".join(tables[:-1]), tables[-1]] if tables[1:] else tables)
