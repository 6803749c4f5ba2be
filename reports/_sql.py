"""Pieces of the SQL that stands under charts, to be copied into a DuckDB shell."""

from collections.abc import Sequence
from itertools import groupby
from string import Template
from typing import Final

from reports._words import is_visible

#: Joins a condition to those before it.
_AND: Final = "\n  AND "


def literal(text: str) -> str:
    """Return a text as an SQL string that holds only characters one can see."""
    parts: list[str] = []
    for visible, found in groupby(text, is_visible):
        if visible:
            parts.append("'" + "".join(found).replace("'", "''") + "'")
        else:
            parts += [f"chr({ord(character)})" for character in found]
    return " || ".join(parts) or "''"


def of_runs(run_ids: Sequence[str], *, or_none: bool = False) -> str:
    """Return the condition for the rows of the runs on the page.

    Args:
        run_ids: Runs on the page; empty means every run.
        or_none: Whether rows that belong to no run are on the page, too.
    """
    if not run_ids:
        return "true"
    among = f"run_id IN ({', '.join(literal(run_id) for run_id in run_ids)})"
    return f"({among} OR run_id IS NULL)" if or_none else among


def where(*conditions: str) -> str:
    """Return the WHERE clause for conditions that must all hold."""
    said = [condition for condition in conditions if condition != "true"]
    return f"WHERE {_AND.join(said)}\n" if said else ""


def filled(template: str, **pieces: str) -> str:
    """Return a query with its pieces in place.

    Args:
        template: Text of the query, with `$name` where a piece goes.
        pieces: Pieces by name; those from data went through `literal`.
    """
    return Template(template).substitute(pieces)
