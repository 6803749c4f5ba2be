"""Repairs as people write them: `rank=7`, `host=node-01`, `communication`."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from analysis._repairs import (
    FORMS,
    FREE,
    HIDDEN,
    LAST,
    PARALLEL,
    SLOWEST,
    Kind,
    Repair,
    of_name,
    of_number,
    of_ranks,
)
from ingest.errors import UsageError

#: Longest text of a repair that a message repeats.
_SHOWN: Final = 60

#: Digits of a number: more are no rank, stage or step.
_NUMBER: Final = "[0-9]{1,18}"

_RANGE: Final = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER}))?")
_EVERY: Final = re.compile(rf"(?:every[ -])?({_NUMBER})(?:[ -]steps?)?")

#: Repairs that need nothing said about them.
_ALONE: Final = ("clocks", "gc", "sequence-lengths", "data", "everything")


def parse(text: str) -> Repair:
    """Return the repair that a text means.

    Args:
        text: What a user wrote: a kind, mostly with a value behind `=`.

    Raises:
        UsageError: If it means none, with the forms that there are.
    """
    word, has_value, value = text.partition("=")
    kind = next((kind for kind in FORMS if kind == word.strip()), None)
    if kind is None:
        told = "; ".join(FORMS.values())
        message = f"--fix {shown(text)}: unknown repair; use {told}"
        raise UsageError(message)
    repair = _parse(kind, value.strip()) if has_value else _bare(kind)
    if repair is None:
        message = f"--fix {shown(text)}: expected {FORMS[kind]}"
        raise UsageError(message)
    return repair


def shown(text: str) -> str:
    """Return what a user wrote as a message repeats it."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _bare(kind: Kind) -> Repair | None:
    if kind == "communication":
        return Repair(kind, kind, name=FREE)
    return Repair(kind, kind) if kind in _ALONE else None


def _parse(kind: Kind, value: str) -> Repair | None:
    read = _VALUES.get(kind)
    return read(kind, value) if read is not None and value else None


def _ranks(_: Kind, value: str) -> Repair | None:
    parts = [_RANGE.fullmatch(part.strip()) for part in value.split(",")]
    ranges = [
        (int(part[1]), int(part[2] or part[1])) for part in parts if part is not None
    ]
    if len(ranges) < len(parts) or any(first > last for first, last in ranges):
        return None
    return of_ranks(tuple(ranges))


def _stage(kind: Kind, value: str) -> Repair | None:
    return of_name(kind, LAST) if value == LAST else _number(kind, value)


def _number(kind: Kind, value: str) -> Repair | None:
    return of_number(kind, int(value)) if re.fullmatch(_NUMBER, value) else None


def _workers(kind: Kind, value: str) -> Repair | None:
    return of_name(kind, SLOWEST) if value == SLOWEST else None


def _communication(kind: Kind, value: str) -> Repair | None:
    if value == FREE:
        return _bare(kind)
    return of_name(kind, value) if value in {HIDDEN, *PARALLEL} else None


def _checkpoint(kind: Kind, value: str) -> Repair | None:
    every = _EVERY.fullmatch(value)
    if every is None or not int(every[1]):
        return None
    number = int(every[1])
    return Repair(kind, f"checkpoint=every {number} steps", number=number)


_VALUES: Final[Mapping[Kind, Callable[[Kind, str], Repair | None]]] = {
    "rank": _ranks,
    "gpu": of_name,
    "host": of_name,
    "rack": of_name,
    "replica": _number,
    "stage": _stage,
    "workers": _workers,
    "link": of_name,
    "kind": of_name,
    "communication": _communication,
    "checkpoint": _checkpoint,
}
