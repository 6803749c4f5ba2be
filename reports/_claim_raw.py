"""The lines of an incident exactly as they were found, and how to check them."""

import re
from typing import Any, Final

import polars as pl

from ingest.quoting import Line, Quotes
from reports._claim_facts import Facts
from reports._claim_parts import NOT_KNOWN, Part, Quoted, instant
from reports._numbers import grouped
from reports._words import listed, plural

#: Lines that are shown of one file; the file holds the rest.
MOST_LINES: Final = 100

#: What stands before the name of a file in its path.
_FOLDERS: Final = re.compile(r".*[/\\]")


def part(facts: Facts) -> Part:
    """Return the lines by file, each file with its hash."""
    files = [_quoted(row, facts) for row in facts.files.to_dicts()]
    shown = sum(len(one.lines) for one in files)
    return Part(
        name="lines",
        title="Lines as found",
        heading=f"{plural(shown, 'line')} of {plural(len(files), 'file')},"
        " to the letter.",
        paragraphs=[
            (
                "Send the files along: SHA-256 of the expanded content (sha256sum,"
                " after unpacking) tells whether a file is the one that was read."
            )
        ],
        files=files,
    )


def _quoted(row: dict[str, Any], facts: Facts) -> Quoted:
    lines = facts.lines.filter(pl.col("file_id") == row["file_id"])
    quotes = facts.quotes.get(row["file_id"], Quotes(fault="it was not looked at"))
    shown = _found(quotes, lines) if quotes.lines else _told(lines)
    left = len(shown) - MOST_LINES
    more = f" {plural(left, 'more line')} not shown." if left > 0 else ""
    return Quoted(
        facts=[
            ("File", _FOLDERS.sub("", str(row["path"]))),
            ("SHA-256", str(row["sha256"])),
            ("Size", f"{grouped(int(row['bytes']))} bytes"),
            ("Read as", str(row["source"])),
        ],
        lines=shown[:MOST_LINES],
        note=_note(quotes, lines) + more,
    )


def _found(quotes: Quotes, lines: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return whole lines with their number; the time is that of their event."""
    times = list(lines.select("message", "time_ns").iter_rows())
    taken: list[tuple[str, str, str]] = []
    for line in quotes.lines:
        at, times = _time_of(line, times)
        taken.append((f"line {grouped(line.number)}", at, line.text))
    return taken


def _time_of(
    line: Line, times: list[tuple[str, int | None]]
) -> tuple[str, list[tuple[str, int | None]]]:
    """Return the time of a line, and what is left of the events for others."""
    for place, (message, time_ns) in enumerate(times):
        if message.partition("\n")[0].rstrip() in line.text:
            return instant(time_ns), times[:place] + times[place + 1 :]
    return "", times


def _told(lines: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return the messages as the lake has them: without stamp and place."""
    return [
        ("", instant(time_ns), message or NOT_KNOWN)
        for message, time_ns in lines.select("message", "time_ns").iter_rows()
    ]


def _note(quotes: Quotes, lines: pl.DataFrame) -> str:
    if quotes.lines:
        return (
            "Whole lines, read again from the file, which still has this hash; the"
            " driver's lines that name the GPU are with them."
        )
    if not quotes.fault:
        return (
            "Put together from fields of the source, which has no such line; the file"
            " still has this hash."
        )
    why = f" ({quotes.fault})"
    messages = lines["message"].drop_nulls().to_list()
    first = [text.partition("\n")[0][:80] for text in messages[:1]]
    find = f" To find them: grep -nF {_shell(listed(first))} FILE." if first else ""
    return (
        "Messages as they were read, without what stood in front of them; their place"
        f" in the file is not known{why}.{find}"
    )


def _shell(text: str) -> str:
    quoted = text.replace("'", "'\\''")
    return f"'{quoted}'"
