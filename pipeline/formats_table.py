"""The formats that can be read: the list of `gpuledger tables --sources`, and README's.

`python -m pipeline.formats_table` writes the list into README.md, between its markers.
"""

import sys
from pathlib import Path
from typing import Final

from ingest.errors import TelemetryError
from ingest.sources import SOURCES, Format
from ingest.tables import TABLES

#: What stands around the list in README.
START: Final = "<!-- formats: python -m pipeline.formats_table -->"
END: Final = "<!-- end of formats -->"

#: What reads any other table. It is no source: a mapping says what it is.
MAPPED: Final = (
    "mapping",
    "mapping:<its name>",
    "any",
    "any CSV, TSV, JSON lines, JSON list or Parquet table, as a mapping.toml says",
)


def rows() -> list[tuple[str, str, str, str]]:
    """Return name, source, tables and description of every format, by its tables.

    A source that reads several formats in one file has a line for each. The source is
    told where `ingested_files.source` has another name than the format.
    """
    formats = [(one, source.name) for source in SOURCES for one in source.formats]
    told = [
        (
            one.name,
            "" if source == one.name else source,
            ", ".join(table.sql_name() for table in one.tables),
            one.describes,
        )
        for one, source in sorted(formats, key=_place)
    ]
    return [*told, MAPPED]


def _place(told: tuple[Format, str]) -> tuple[int, str, str]:
    one, _ = told
    first = min((TABLES.index(table) for table in one.tables), default=len(TABLES))
    return first, one.name, one.describes


def markdown() -> str:
    """Return the list as a table of Markdown, with its markers."""
    lines = [
        "| format | source | fills | describes |",
        "| --- | --- | --- | --- |",
    ]
    for name, source, fills, describes in rows():
        about = describes.replace("|", "\\|")
        of = f"`{source}`" if source else ""
        lines.append(f"| `{name}` | {of} | {fills} | {about} |")
    return "\n".join([START, "", *lines, "", END])


def rewritten(text: str) -> str:
    """Return a document with the list in the place of the one that it has.

    Raises:
        TelemetryError: If it has no markers, or has them twice.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end) or START in after:
        message = f"README.md: expected {START!r} and {END!r} once; put them back"
        raise TelemetryError(message)
    return f"{before}{markdown()}{after}"


def main(path: Path) -> None:
    """Write the list into a document."""
    path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "README.md"))
