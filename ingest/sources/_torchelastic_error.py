"""What an error file of torchelastic tells: message, time, rank and host."""

import re
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.sources._console.messages import CUDA, WATCHDOG, Message, meaning
from ingest.times import SECOND_NS

#: Messages of processes that were ended because another one failed: they name no cause.
_PEERS: Final = (
    Message(
        r"NCCL error|ncclInternalError|ncclRemoteError|remote process exited"
        r"|Connection (?:reset|closed) by (?:remote )?peer|DistNetworkError",
        "nccl_peer_lost",
        None,
        "error",
    ),
    Message(r"^SignalException", "worker_exit_signal", None, "info"),
)

#: Messages that are known, the most particular first.
_KNOWN: Final = (*WATCHDOG, *CUDA, *_PEERS)

#: Class of an exception at the start of a message.
_CLASS: Final = re.compile(
    r"(?:[A-Za-z_]\w{0,80}\.){0,8}"
    r"([A-Za-z_]\w{0,80}(?=: )|[A-Z]\w{0,80}(?:Error|Exception|Exit|Interrupt)$)"
)

#: Seconds since the epoch, as text; those whose nanoseconds fit 64 bits.
_SECONDS: Final = re.compile(r"([0-9]{1,10})(?:\.([0-9]{0,9})[0-9]*)?")

#: Keys of what the file tells besides, wherever it stands.
_RANKS: Final = ("rank", "global_rank")
_HOSTS: Final = ("host", "hostname")

#: Greatest rank. More than any job has, and it fits its column.
_MOST_RANKS: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class ElasticError:
    """An error of a process.

    Attributes:
        message: Its message.
        time_ns: When it was raised, null where the file does not tell. [ns]
        rank: Global rank of the process.
        host: Its node.
    """

    message: str
    time_ns: int | None
    rank: int | None
    host: str | None


def parse(document: dict[str, object]) -> ElasticError | None:
    """Return the error that a document tells of, None where it tells of none."""
    body = document.get("message")
    inner = body if isinstance(body, dict) else {}
    extra = inner.get("extraInfo")
    places = [extra if isinstance(extra, dict) else {}, inner, document]
    text = inner.get("message") if inner else body
    if not isinstance(text, str) or not text.strip():
        return None
    ranks = (place.get(key) for place in places for key in _RANKS)
    hosts = (place.get(key) for place in places for key in _HOSTS)
    stamps = [_time_ns(place.get("timestamp")) for place in places]
    return ElasticError(
        text.strip(),
        next((stamp for stamp in stamps if stamp is not None), None),
        next((rank for rank in map(_rank, ranks) if rank is not None), None),
        next((host for host in hosts if isinstance(host, str) and host), None),
    )


def coded(message: str) -> dict[str, str | None]:
    """Return `code`, `component` and `severity` of a message."""
    frame = pl.DataFrame({"line": [message]}).select(**meaning(_KNOWN))
    code, component, severity = frame.row(0)
    if code is not None:
        return {"code": code, "component": component, "severity": severity}
    found = _CLASS.match(message)
    name = found[1] if found else "error"
    return {"code": name, "component": "software", "severity": "error"}


def _time_ns(told: object) -> int | None:
    """Return an instant, exactly: the digits are never a floating point number. [ns]"""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return None
    found = _SECONDS.fullmatch(str(told).strip())
    if found is None or int(found[1]) * SECOND_NS >= 1 << 63:
        return None
    return int(found[1]) * SECOND_NS + int((found[2] or "").ljust(9, "0"))


def _rank(told: object) -> int | None:
    text = str(told) if isinstance(told, int | str) else ""
    is_rank = text.isascii() and text.isdigit() and len(text) < len(str(_MOST_RANKS))
    return int(text) if is_rank else None
