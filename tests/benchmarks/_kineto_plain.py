"""Decode the events of a trace with msgspec and do nothing with them; print as JSON."""

import json
import sys
import time
from pathlib import Path

import msgspec
from _peak import peak_mb  # type: ignore[import-not-found]


class Args(msgspec.Struct, gc=False):
    """Arguments that link work to its launch."""

    correlation: int | None = None
    stream: int | str | None = None


class Event(msgspec.Struct, gc=False):
    """An event whose numbers keep their nanoseconds."""

    name: str = ""
    cat: str = ""
    ts: msgspec.Raw = msgspec.Raw(b"")
    dur: msgspec.Raw = msgspec.Raw(b"")
    args: Args | None = None


class Trace(msgspec.Struct, gc=False):
    """A trace."""

    traceEvents: list[Event]  # noqa: N815 - the format's name


def main(trace: Path) -> None:
    """Decode the whole document at once."""
    began, cpu_began = time.perf_counter(), time.process_time()
    events = msgspec.json.decode(trace.read_bytes(), type=Trace).traceEvents
    ended, cpu_ended = time.perf_counter(), time.process_time()
    told = {
        "total_s": ended - began,
        "cpu_s": cpu_ended - cpu_began,
        "peak_mb": peak_mb(),
        "events": len(events),
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
