"""What a file looks like that nobody reads: its form, and the names in it."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from ingest._guess_bytes import Kind, of_bytes
from ingest._guess_people import of_columns, of_people
from ingest._mapping_csv import split_one
from ingest.sources import Head
from ingest.sources._lines_json import head_records

_METRIC: Final = re.compile(r"^# (?:HELP|TYPE) ([A-Za-z_:][\w:]*)", re.MULTILINE)
_KEY: Final = re.compile(
    r'"((?:[^"\\]|\\.){0,200})"\s*:|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL
)
_LIST: Final = re.compile(r"\[\s*[\[{\"\d-]")
_MAPPING: Final = re.compile(r"^\[\[map\]\]\s*$(?s:.*)^table *= *\"", re.MULTILINE)
_SECTION: Final = re.compile(r"^\[[\w. :\"'-]+\]\s*$", re.MULTILINE)
_ASSIGNMENT: Final = re.compile(r"^([\w.-]+)\s*[=:] ?\S*", re.MULTILINE)
_NUMBERS: Final = re.compile(r"[\d\s.,;:eE+-]+")
_STAMPED: Final = re.compile(
    r"^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d\d/\d\d/\d{2,4} \d\d:\d\d|\d{10}(?:\.\d+)?[ \]])"
)

#: A cell that is no name: a number, or a time.
_VALUE: Final = re.compile(
    r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?%?"
    r"|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T ].*)?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}\S*"
)

#: Lines that are looked at.
_LINES: Final = 20

#: Share of lines that must be alike for a file to be named after them.
_MOST: Final = 0.8

#: Cells from which a line is a row of a table, and not a sentence with a comma.
_CELLS: Final = 3


def kind_of(head: Head) -> Kind:
    """Return what a file looks like."""
    return of_bytes(head) or _of_text(head)


def _of_text(head: Head) -> Kind:
    text = head.text.lstrip()
    if _MAPPING.search(text):
        return Kind("a mapping, which --mapping applies to other files")
    if text.startswith("{"):
        return _of_objects(head, text)
    if _LIST.match(text):
        return _of_list(text)
    if text.startswith("#!"):
        return Kind("a script")
    if text.startswith(("<?", "<!", "<html")):
        return Kind("HTML" if "<html" in text[:1000].lower() else "XML")
    lines = [
        line
        for line in text.splitlines()[:_LINES]
        if line.strip() and not line.startswith("#")
    ]
    return (
        _of_metrics(text)
        or of_people(text)
        or _of_cells(lines)
        or _of_lines(text, lines)
    )


def _of_list(text: str) -> Kind:
    if text[1:].lstrip().startswith("{"):
        return Kind("a JSON list of objects", _keys(text, depth=2), "the keys")
    return Kind("a JSON list")


def _of_metrics(text: str) -> Kind | None:
    metrics = tuple(dict.fromkeys(_METRIC.findall(text)))
    return Kind("Prometheus text", metrics, "the metrics") if metrics else None


def _of_objects(head: Head, text: str) -> Kind:
    records = list(head_records(head))
    if len(records) > 1:
        return Kind("JSON lines", tuple(records[0]), "the keys")
    if names := _keys(text, depth=1):
        return Kind("a JSON object", names, "the keys")
    return Kind("text that begins like JSON")


def _keys(text: str, depth: int) -> tuple[str, ...]:
    """Return the keys at a depth of nested brackets, as far as the text goes."""
    found: dict[str, None] = {}
    level = 0
    for token in _KEY.finditer(text):
        sign = token[0]
        if sign in "{[":
            level += 1
        elif sign in "}]":
            level -= 1
            if level < depth and depth > 1:
                # the first object of a list is enough
                break
        elif token[1] is not None and level == depth:
            found[_decoded(token[1])] = None
    return tuple(found)


def _decoded(text: str) -> str:
    try:
        return msgspec.json.decode(f'"{text}"'.encode(), type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def _of_cells(lines: list[str]) -> Kind | None:
    """Return the kind of lines that all have as many cells."""
    named = {",": "CSV", "\t": "TSV", ";": "CSV with semicolons", "|": "cells and bars"}
    for delimiter, what in named.items():
        cells = [split_one(line, delimiter) or [] for line in lines]
        widths = [len(one) for one in cells]
        if (
            len(lines) > 1
            and widths[0] >= _CELLS
            and _most(width == widths[0] for width in widths)
        ):
            names = tuple(cell.strip() for cell in cells[0])
            if any(map(_VALUE.fullmatch, names)):
                return Kind(f"{what} without a line of names")
            return Kind(what, names, "the columns")
    return None


def _of_lines(text: str, lines: list[str]) -> Kind:
    if lines and _most(bool(_NUMBERS.fullmatch(line)) for line in lines):
        return Kind("numbers without names")
    if lines and _most(bool(_STAMPED.match(line)) for line in lines):
        return Kind("a log whose lines begin with a time")
    names = tuple(dict.fromkeys(_ASSIGNMENT.findall(text[:10_000])))
    if _SECTION.search(text) and names:
        return Kind("settings (INI or TOML)", names, "the keys")
    if names and _most(bool(_ASSIGNMENT.match(line.strip("- "))) for line in lines):
        return Kind("settings (YAML or the like)", names, "the keys")
    if (table := of_columns(text, lines)) is not None:
        return table
    words = sum(c.isalpha() or c.isspace() for c in text)
    return Kind("prose" if words >= _MOST * len(text) else "text of no known kind")


def _most(which: Iterable[bool]) -> bool:
    known = list(which)
    return sum(known) >= _MOST * len(known)
