"""How templates are filled: what is not yet HTML is escaped, and hides nothing."""

from typing import Final

import jinja2

from reports import _glossary
from reports._section import Link
from reports._words import name, visible

#: A word of this length still fits into a column. [characters]
_LONGEST_WORD: Final = 18


def environment() -> jinja2.Environment:
    """Return the environment of every template of the reports."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["explained"] = _glossary.explained
    made.filters["name"] = name
    made.tests["link"] = lambda cell: isinstance(cell, Link)
    made.tests["unbroken"] = _is_unbroken
    return made


def _is_unbroken(cell: object) -> bool:
    """Whether a cell holds a word that must be broken to fit into a column."""
    return any(len(word) > _LONGEST_WORD for word in str(cell).split())


def _visible(value: object) -> object:
    """Return a value as it is, a text that is not yet HTML without what hides."""
    return visible(value) if type(value) is str else value
