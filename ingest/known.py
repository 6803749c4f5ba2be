"""What is known of the lake's files, and which of them a new file replaces."""

import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from ingest.discovery import Found
from ingest.files import Fingerprint
from ingest.sources import Source

#: Sources of which a run has one file: an edited one takes the place of the old.
ONE_PER_RUN: Final = frozenset({"run-card", "host-map"})


def display(path: Path) -> str:
    """Return a path as text that can be printed and stored, whatever its bytes."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


@dataclass(slots=True)
class Known:
    """Files of the lake, by what a new file may have in common with them."""

    ids: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    by_content: dict[str, list[dict[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    by_run: dict[tuple[str, str | None], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )


def index_of(known: pl.DataFrame) -> Known:
    """Return the rows of IngestedFiles, by what a new file is looked up by."""
    index = Known()
    columns = (
        "file_id",
        "path",
        "sha256",
        "source",
        "bytes",
        "rows_accepted",
        "run_id",
    )
    for row in known.select(columns).iter_rows(named=True):
        index.ids.add(row["file_id"])
        if row["rows_accepted"] > 0:
            index.sizes.add(row["bytes"])
        index.by_content[row["sha256"]].append(row)
        index.by_run[row["source"], row["run_id"]].append(row["file_id"])
    return index


def superseded(
    file: Found, source: Source | None, print_: Fingerprint, lake: Known
) -> set[str]:
    """Files whose rows leave when this one's come.

    Those that it is a grown copy of, those with its content read with other options,
    and of a run card those of the same run.
    """
    if source is None:
        return set()
    grown = {
        row["file_id"]
        for sha256 in print_.prefixes
        for row in lake.by_content[sha256]
        if row["source"] == source.name
    }
    same = {
        row["file_id"]
        for row in lake.by_content.get(print_.sha256, ())
        if row["path"] == display(file.path) or not Path(row["path"]).exists()
    }
    rival = lake.by_run[source.name, file.run_id] if source.name in ONE_PER_RUN else ()
    return grown | same | set(rival)
