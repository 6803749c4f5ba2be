"""What is wrong with a scenario, in words: the key, and what is expected there."""

import re
from typing import Final, get_args, get_type_hints

import msgspec

from ingest.synthetic.cluster._scenario_faults import Kind
from ingest.synthetic.cluster._scenario_parts import TEXT, WORD, Axis

#: Characters of a name that was given which a message repeats.
_MOST: Final = 60

_UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(.*)`")
_ENUM: Final = re.compile(r"Invalid enum value (.*)", re.DOTALL)

#: Words of a decoder, and what they mean to somebody who writes a scenario.
_WORDS: Final = (
    (f" matching regex {WORD!r}", " of letters, digits, `_`, `-` and `.` within only"),
    (f" matching regex {TEXT!r}", " in one line, without quotes and backslashes"),
    (" | null`", "`"),
    ("`float`", "a number"),
    ("`int`", "a whole number"),
    ("`str`", "text"),
    ("`object`", "a table"),
    ("`array`", "a list"),
    ("Expected `datetime`", "Expected a time such as 2026-03-02T00:00:00Z, no quotes"),
    ("`datetime`", "a time"),
)


def refusal(error: Exception, scenario: type[msgspec.Struct]) -> str:
    """Return in one line which key is wrong and what to do, or that it is no TOML.

    Args:
        error: What a decoder said.
        scenario: What it was to make.
    """
    told = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return _line(f"not a scenario: {told}; correct the file")
    what, _, place = told.partition(" - at `$")
    return _line(_sentence(what, place.removesuffix("`").lstrip("."), scenario))


def _sentence(what: str, key: str, scenario: type[msgspec.Struct]) -> str:
    inside = f"{key}." if key else ""
    if unknown := _UNKNOWN.fullmatch(what):
        names = ", ".join(_table(key, scenario).__struct_fields__)
        return (
            f"{inside}{_cut(unknown[1])}: unknown key; remove it, or correct it to one"
            f" of {names}"
        )
    if missing := _MISSING.fullmatch(what):
        return f"{inside}{missing[1]}: expected, but not there; add it"
    if choice := _ENUM.fullmatch(what):
        words = get_args(Kind if key.endswith(".kind") else Axis)
        return (
            f"{key}: {_cut(choice[1])}, expected one of {', '.join(words)}; correct it"
        )
    for word, meaning in _WORDS:
        what = what.replace(word, meaning)
    return f"{key}: {what[:1].lower()}{what[1:]}; correct it"


def _table(key: str, scenario: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return what declares the keys of a table of a scenario."""
    found = scenario
    for name in filter(None, key.split(".")):
        hint = get_type_hints(found)[name.partition("[")[0]]
        found = next(iter(get_args(hint)), hint)
    return found


def _cut(name: str) -> str:
    """Return the beginning of a name that is long."""
    return name if len(name) <= _MOST else f"{name[:_MOST]}..."


def _line(text: str) -> str:
    """Return a text in one line of printable characters."""
    line = " ".join(text.split())
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)
