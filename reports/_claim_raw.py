"""The lines of an incident exactly as they were found, and how to check them."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from ingest.quoting import Line, Quotes
from reports._claim_facts import Facts
from reports._claim_parts import NOT_KNOWN, Part, Quoted, instant
from reports._numbers import grouped
from reports._words import listed, plural

#: Lines that are shown of one file; the file holds the rest.
MOST_LINES: Final = 100

#: A stamp with its zone, as system logs begin their lines.
_STAMP: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})"
)

#: What stands before the name of a file in its path.
_FOLDERS: Final = re.compile(r".*[/\\]")


def part(facts: Facts) -> Part:
    """Return the lines by file, each file with its hash."""
    files = [_quoted(row, facts) for row in facts.files.to_dicts()]
    shown = sum(len(one.lines) for one in files)
    return Part(
        name="lines",
        title="Lines as found",
        heading=_heading(facts, shown, len(files)),
        paragraphs=[
            (
                "Send the files along: SHA-256 of the expanded content (sha256sum,"
                " after unpacking) tells whether a file is the one that was read."
            )
        ],
        files=files,
    )


def _heading(facts: Facts, shown: int, files: int) -> str:
    """Say how much is quoted to the letter: what was put together is no line."""
    of = f"of {plural(files, 'file')}"
    quoted = [bool(one.lines) for one in facts.quotes.values()]
    if quoted and all(quoted):
        return f"{plural(shown, 'line')} {of}, to the letter."
    if any(quoted):
        return f"{plural(shown, 'line')} {of}, some of them not to the letter."
    return f"{plural(shown, 'message')} {of}, not to the letter."


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
    """Return whole lines with their number and their time."""
    times = list(lines.select("message", "time_ns").iter_rows())
    timed: list[tuple[Line, int | None]] = []
    for line in quotes.lines:
        at, times = _time_of(line, times)
        timed.append((line, at))
    return [
        (f"line {grouped(line.number)}", _when(line, at, timed), line.text)
        for line, at in timed
    ]


def _time_of(
    line: Line, times: list[tuple[str, int | None]]
) -> tuple[int | None, list[tuple[str, int | None]]]:
    """Return the time of a line, and what is left of the events for others."""
    for place, (message, time_ns) in enumerate(times):
        is_it = line.message == message if line.message else _holds(line, message)
        if is_it:
            return time_ns, times[:place] + times[place + 1 :]
    return None, times


def _holds(line: Line, message: str | None) -> bool:
    first = (message or "").partition("\n")[0].rstrip()
    return bool(first) and first in line.text


def _when(line: Line, at: int | None, timed: Sequence[tuple[Line, int | None]]) -> str:
    """Return the time of a line: its event's, its own stamp, else whose line it is."""
    if at is not None:
        return instant(at)
    if (stamped := _stamp(line.text)) is not None:
        return instant(stamped)
    if line.number == 1 and any(other.message for other, _ in timed):
        return "names of the columns"
    near = [(abs(line.number - one.number), one.number) for one, ns in timed if ns]
    return f"beside line {grouped(min(near)[1])}" if near else NOT_KNOWN


def _stamp(text: str) -> int | None:
    """Return the instant that a line begins with, if it names its zone. [ns]"""
    if not (found := _STAMP.match(text)):
        return None
    try:
        told = datetime.fromisoformat(found[0])
    except ValueError:
        return None
    since = told.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000


def _told(lines: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return the messages as the lake has them: without stamp and place."""
    return [
        ("", instant(time_ns), message or NOT_KNOWN)
        for message, time_ns in lines.select("message", "time_ns").iter_rows()
    ]


def _note(quotes: Quotes, lines: pl.DataFrame) -> str:
    if any(line.message for line in quotes.lines):
        return "Whole rows, read again from the file, which still has this hash."
    if quotes.lines:
        messages = lines["message"].to_list()
        own = [any(_holds(line, text) for text in messages) for line in quotes.lines]
        beside = "" if all(own) else "; the driver's lines about the GPU are with them"
        return (
            f"Whole lines, read again from the file, which still has this hash{beside}."
        )
    if not quotes.fault:
        return (
            "Put together from fields of the source, whose lines read otherwise; the"
            " file still has this hash."
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
