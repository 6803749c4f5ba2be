"""The truth about made telemetry: it is no telemetry, and lies beside it."""

import re
from typing import Final

from ingest._empty import read_nothing
from ingest.sources import Head, Source

#: What each truth begins with: that of a made cluster, a sample run, a made history.
_BEGINNINGS: Final = (
    ("files", "format", "scenario"),
    ("seed", "run_id", "ranks"),
    ("seed", "run_id", "cluster", "ranks"),
    ("run_id", "attempts", "gpus", "reserved_gpus"),
)

#: A text, an object without others in it, or a number or word of JSON.
_VALUE: Final = r'(?:"[^"\\]*"|\{[^{}]*\}|[^\s"{}\[\],]+)'


def _begins(keys: tuple[str, ...]) -> str:
    *told, last = (rf'"{key}"\s*:\s*' for key in keys)
    return "".join(rf"{key}{_VALUE}\s*,\s*" for key in told) + last


_TRUTH: Final = re.compile(rf"\s*\{{\s*(?:{'|'.join(map(_begins, _BEGINNINGS))})")


def _recognizes(head: Head) -> bool:
    return _TRUTH.match(head.text) is not None


#: What passes it over. It is no format of telemetry, and so not among the sources.
MADE_TRUTH: Final = Source(
    name="made-truth",
    version=1,
    describes="the truth about a made cluster: what is to be found in its telemetry",
    tables=(),
    options=frozenset(),
    recognizes=_recognizes,
    read=read_nothing,
)
