"""A large trace, made of a real one that is repeated."""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

#: Numbers that tell one copy of the trace from the next.
_NUMBER = re.compile(rb'"(ts|correlation|External id|id)": (\d+)|ProfilerStep#(\d+)')

#: Microseconds between two copies.
GAP_US = 1_000_000


def write_repeated(source: Path, target: Path, copies: int) -> int:
    """Write a trace whose events come `copies` times, and return how many they are.

    Each copy comes after the last, with steps, correlations and ids of its own; the
    layout stays that of Kineto.
    """
    text = gzip.decompress(source.read_bytes())
    first = text.index(b'"traceEvents": [') + len(b'"traceEvents": [')
    last = text.rindex(b"\n  ],")
    events: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    shifts = _shifts(events)
    pieces, end = _pieces(text[first:last])
    with target.open("wb") as file:
        file.write(text[:first])
        for copy in range(copies):
            file.write(b"," if copy else b"")
            for before, key, value in pieces:
                file.write(before + b"%d" % (value + copy * shifts[key]))
            file.write(end)
        file.write(text[last:])
    return copies * len(events)


def _shifts(events: list[dict[str, Any]]) -> dict[bytes, int]:
    times = [one["ts"] for one in events if "ts" in one]
    args = [one.get("args", {}) for one in events]
    return {
        b"ts": int(max(times) - min(times)) + GAP_US,
        b"correlation": 1 + max(one.get("correlation", 0) for one in args),
        b"External id": 1 + max(one.get("External id", 0) for one in args),
        b"id": 1 + max(one.get("id", 0) for one in events),
        b"step": 1_000,
    }


def _pieces(text: bytes) -> tuple[list[tuple[bytes, bytes, int]], bytes]:
    """Return what is before each number, its key and value; and what is behind all."""
    pieces: list[tuple[bytes, bytes, int]] = []
    done = 0
    for match in _NUMBER.finditer(text):
        digits = match.start(2) if match[1] else match.start(3)
        key, value = match[1] or b"step", int(match[2] or match[3])
        pieces.append((text[done:digits], key, value))
        done = match.end()
    return pieces, text[done:]


if __name__ == "__main__":
    count = write_repeated(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps({"events": count}))
