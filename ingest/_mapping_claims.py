"""Which files a map takes, and how their records lie there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from ingest._mapping_card import Form
from ingest._mapping_csv import split_one
from ingest._mapping_plan import Plan
from ingest.sources import Head
from ingest.sources._lines_json import head_records

#: What may part cells, the most usual first.
DELIMITERS: Final = (",", "\t", ";", "|")

_PARQUET: Final = b"PAR1"


@dataclass(frozen=True, slots=True)
class Shape:
    """How records lie in one file."""

    form: Form
    delimiter: str = ","


def is_meant(plan: Plan, head: Head) -> bool:
    """Return whether a map names a file by a pattern."""
    return any(fnmatchcase(head.name, pattern) for pattern in plan.patterns)


def shape_of(plan: Plan, head: Head) -> Shape:
    """Return how records lie in a file: as the mapping says, else as it looks."""
    form = plan.layout.form or _looks(head)
    if form != "csv":
        return Shape(form, "\t")
    return Shape(form, plan.layout.delimiter or _delimiter(plan, head))


def missing(plan: Plan, head: Head) -> list[str]:
    """Return the fields that a map needs and a file does not show."""
    shape = shape_of(plan, head)
    if shape.form in {"csv", "tsv"}:
        names: Iterable[str] = header_of(plan, head, shape.delimiter)
        return _without(plan.needed, names)
    tops = list(dict.fromkeys(plan.needed))
    if shape.form == "parquet":
        return [n for n in tops if not {n, n.partition(".")[0]} & {*head.columns}]
    if shape.form == "jsonl" and not any(head_records(head)):
        return tops
    return [name for name in tops if not _is_key(name, head)]


def header_of(plan: Plan, head: Head, delimiter: str) -> list[str]:
    """Return the names of the cells of a file, as its head shows them."""
    if isinstance(plan.layout.header, tuple):
        return list(plan.layout.header)
    lines = head.text.split("\n")[plan.layout.skip :]
    comment = plan.layout.comment
    for line in lines:
        if line.strip() and not (comment and line.startswith(comment)):
            cells = split_one(line.rstrip("\r"), delimiter) or []
            return [cell.strip() for cell in cells]
    return []


def _without(needed: Iterable[str], names: Iterable[str]) -> list[str]:
    known = set(names)
    return [name for name in dict.fromkeys(needed) if name not in known]


def _is_key(name: str, head: Head) -> bool:
    return any(f'"{key}"' in head.text for key in (name, name.partition(".")[0]))


def _looks(head: Head) -> Form:
    if head.data.startswith(_PARQUET):
        return "parquet"
    start = head.text.lstrip()
    if start.startswith("["):
        return "json"
    return "jsonl" if start.startswith("{") else "csv"


def _delimiter(plan: Plan, head: Head) -> str:
    def lacks(delimiter: str) -> tuple[int, int]:
        names = header_of(plan, head, delimiter)
        return len(_without(plan.needed, names)), -len(names)

    return min(DELIMITERS, key=lacks)


def together(plans: Sequence[Plan], head: Head) -> tuple[Plan, ...]:
    """Return the first plan, and those that read a file as it does."""
    first = plans[0]
    return tuple(
        plan
        for plan in plans
        if plan.layout == first.layout and shape_of(plan, head) == shape_of(first, head)
    )
