"""What was read, what was refused, and why."""

from typing import Final

import polars as pl

from analysis import Frames
from ingest.tables import IngestedFiles, RejectedRows
from reports import _file_listing, _row_charts, _rule_chart
from reports._numbers import grouped, percent
from reports._section import Content, Scope, Section
from reports._words import listed, plural

#: Source of files that no reader claims.
UNRECOGNIZED: Final = "unrecognized"


def build(frames: Frames, scope: Scope) -> Content:
    """Return the rows that were read, and the reasons for which some were refused."""
    files = (
        scope.of_runs(frames[IngestedFiles], or_none=True)
        .sort(["rows_rejected", "bytes", "path"], descending=[True, True, False])
        .collect()
    )
    if files.is_empty():
        return Content(
            heading="No file has been read yet.",
            empty="gpuledger ingest takes files, folders, globs and archives; and"
            " gpuledger tables --sources lists the formats.",
        )
    return Content(
        heading=_heading(files),
        paragraphs=_paragraphs(files),
        charts=[
            *_row_charts.by_source(files, scope),
            *_rule_chart.chart(frames, files, scope),
        ],
        listings=[_file_listing.listing(files, scope)],
    )


def _sum(files: pl.DataFrame, column: str) -> int:
    return int(files[column].sum())


def _heading(files: pl.DataFrame) -> str:
    read, kept = _sum(files, "rows_read"), _sum(files, "rows_accepted")
    refused = _sum(files, "rows_rejected")
    head = f"{plural(read, 'row')} from {plural(files.height, 'file')}"
    if not read:
        return f"{head}: nothing in them could be read."
    if not refused:
        return f"{head}, and none was refused."
    return f"{head}: {percent(kept / read)} accepted, {grouped(refused)} refused."


def _paragraphs(files: pl.DataFrame) -> list[str]:
    read, kept, refused, retired = (
        _sum(files, f"rows_{kind}")
        for kind in ("read", "accepted", "rejected", "retired")
    )
    told = [
        (
            f"{grouped(read)} read = {grouped(kept)} accepted"
            f" + {grouped(refused)} refused + {grouped(retired)} retired."
            " Nothing is dropped in silence."
        )
    ]
    strange = files.filter(pl.col("source") == UNRECOGNIZED)
    if strange.height:
        names = listed(
            [_file_listing.short(path) for path in strange["path"].sort()], 10
        )
        seen = plural(strange.height, "file")
        told.append(f"{seen} that no source recognizes: {names}.")
    repairs = _sum(files, "repairs")
    if repairs:
        mended = files.filter(pl.col("repairs") > 0).height
        told.append(f"{plural(repairs, 'repair')} made {plural(mended, 'file')} fit.")
    return told


SECTION: Final = Section(
    "data_quality", "Data quality", (IngestedFiles, RejectedRows), build
)
