"""Text of the raw formats: local time, exact microseconds, files that never differ."""

import gzip
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local_time(time_ns: int, zone: str) -> datetime:
    """Return an instant in a zone, cut to microseconds."""
    moment = _EPOCH + timedelta(microseconds=time_ns // 1_000)
    return moment.astimezone(ZoneInfo(zone))


def micros(time_ns: int) -> str:
    """Return microseconds with three decimals, as Kineto prints them."""
    return f"{time_ns // 1_000}.{time_ns % 1_000:03}"


def compact_json(value: Mapping[str, Any]) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file; one whose name ends in .gz is packed, without a time."""
    data = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=9, mtime=0)
    path.write_bytes(data)
