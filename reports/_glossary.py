"""Words of the field, each with its one meaning, and where it comes from."""

import re
from functools import cache
from typing import Final

from markupsafe import Markup, escape

from reports import _words_of_faults, _words_of_time
from reports._section import Definition
from reports._words import visible

#: Every word that the page explains, in the order of reading.
GLOSSARY: Final[tuple[Definition, ...]] = (
    *_words_of_time.WORDS,
    *_words_of_faults.WORDS,
)


def explained(text: str) -> Markup:
    """Return a sentence with its first use of each word linked to the meaning.

    Args:
        text: A sentence that may hold anything; it is escaped first.
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        term = found[0].lower()
        if term in seen:
            return found[0]
        seen.add(term)
        meaning = escape(_meanings()[term])
        return (
            f'<a class="term" href="#{anchor(term)}" title="{meaning}">{found[0]}</a>'
        )

    return Markup(_pattern().sub(link, str(escape(visible(text)))))  # noqa: S704 - escaped


def anchor(term: str) -> str:
    """Return the name of the place on the page that explains a word."""
    return f"word-{term.lower().replace(' ', '-')}"


@cache
def _meanings() -> dict[str, str]:
    return {one.term.lower(): one.meaning for one in GLOSSARY}


@cache
def _pattern() -> re.Pattern[str]:
    terms = sorted((re.escape(term) for term in _meanings()), key=len, reverse=True)
    return re.compile(rf"(?<![\w&#;-])(?:{'|'.join(terms)})(?![\w;-])", re.IGNORECASE)
