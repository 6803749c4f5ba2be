"""The name and the labels of a series, as text formats write them."""

import re
from typing import Final

from ingest.errors import TelemetryError

#: Label that holds the name of the metric.
NAME: Final = "__name__"

#: Rule of a series whose labels cannot be read.
LABELS: Final = "labels"

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_LABEL = re.compile(
    rf"\s*(?:{_QUOTED}|([A-Za-z_][\w.]*))\s*(?:=\s*{_QUOTED}\s*)?(?:,|$)"
)
_ESCAPE = re.compile(r'\\([\\"n])')


class BrokenSeriesError(TelemetryError):
    """A series that cannot be read; its text is the rule that it breaks."""


def metric_name(text: str) -> str:
    """Return the name of the metric of a series; empty where it is in the braces."""
    return text.partition("{")[0].strip()


def labels_of(text: str) -> dict[str, str]:
    """Return the labels of a series, the name of its metric among them.

    The name stands before the braces, or in them: `{__name__="up"}` in a dump,
    `{"up"}` where it is no plain word.

    Raises:
        BrokenSeriesError: If the text has no such form, or a label occurs twice.
    """
    name, brace, inside = text.partition("{")
    labels = {NAME: name.strip()} if name.strip() else {}
    if not brace:
        return labels
    inside = inside.strip()
    if not inside.endswith("}"):
        raise BrokenSeriesError(LABELS)
    for key, value in _pairs(inside[:-1].strip()):
        if key in labels:
            raise BrokenSeriesError(LABELS)
        labels[key] = value
    return labels


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if match is None:
            raise BrokenSeriesError(LABELS)
        quoted, word, value = match.groups()
        if value is not None:
            pairs.append((_plain(quoted) if word is None else word, _plain(value)))
        elif quoted is not None:
            pairs.append((NAME, _plain(quoted)))
        else:
            raise BrokenSeriesError(LABELS)
        at = match.end()
    return pairs


def _plain(text: str) -> str:
    """Resolve escapes. The dcgm-exporter writes none; its backslashes stay."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: match[1].replace("n", "\n"), text)
