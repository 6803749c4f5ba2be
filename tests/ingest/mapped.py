"""What tests of mappings share: a mapping from its text, and what it makes."""

import io
from typing import Any

from ingest import mapping
from ingest.sources import Batch, Head, Source
from tests.ingest.readings import reading

#: The start of a map of steps; what follows is in `map.columns`.
STEPS = """
[[map]]
table = "step_timings"
[map.columns]
step = "step"
rank = "rank"
"""

#: As it is, and with the two times.
TIMED = STEPS + (
    'start_ns = { field = "t", unit = "epoch_s" }\n'
    'duration_ns = { field = "d", unit = "ms" }\n'
)


def parse(text: str, path: str = "m.toml") -> mapping.Mapping:
    return mapping.parse(text.encode(), path)


def claim(
    text: str, data: bytes, name: str = "log.csv", columns: tuple[str, ...] = ()
) -> Source | None:
    head = Head(name, data[:65_536], columns)
    return mapping.claim(head, [parse(text)], None)


def mapped(
    text: str,
    data: bytes | str,
    name: str = "log.csv",
    columns: tuple[str, ...] = (),
    **told: Any,
) -> list[Batch]:
    """Read a file as a mapping says, which must claim it."""
    raw = data.encode() if isinstance(data, str) else data
    source = claim(text, raw, name, columns)
    assert source is not None
    return list(source.read(io.BytesIO(raw), reading(name=name, **told)))
