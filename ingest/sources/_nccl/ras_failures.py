"""Processes that are lost, and errors of ranks, from polls and events of RAS."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from ingest.sources._flight.values import integer_of, text_of
from ingest.sources._nccl.ras_facts import Poll, Row, host_of, objects_of, state_of

#: Results that are no errors: success, and an operation that goes on.
_SOUND: Final = frozenset({0, 7})

#: Names of NCCL's errors. Source: nccl.h.
_ERRORS: Final = (
    "success",
    "unhandled CUDA error",
    "system error",
    "internal error",
    "invalid argument",
    "invalid usage",
    "remote process error",
)

#: What an event of a monitor says that names a process which is lost.
_LOST: Final = ("DEAD", "UNRESPONSIVE", "TIMEOUT", "LOST", "FAIL", "ERROR", "HANG")

#: How bad each state of a process is, and what it means.
_STATES: Final = {
    "dead": ("error", "process considered dead"),
    "unresponsive": ("warning", "process does not respond"),
}

#: Devices of a process that are told. [1]
_MOST_DEVICES: Final = 64


class Told:
    """What was told of a file so far."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lost: set[tuple[object, ...]] = set()
        self._alike: Counter[tuple[object, ...]] = Counter()

    def new(self, failures: list[Row]) -> list[Row]:
        """Return the failures of a poll that the poll before it did not have, once."""
        found = {(row["host"], row["code"], row["message"]): row for row in failures}
        before, self._lost = self._lost, set(found)
        return [row for key, row in found.items() if key not in before]

    def numbered(self, failures: list[Row]) -> list[Row]:
        """Number failures that are alike to the letter."""
        numbered: list[Row] = []
        for row in failures:
            key = row["host"], row["code"], row["time_ns"], row["message"]
            numbered.append(row | {"occurrence": self._alike[key]})
            self._alike[key] += 1
        return numbered


def failure_rows(document: Mapping[str, object], poll: Poll) -> Iterator[Row]:
    """Yield a row for each rank that is lost, and for each error of a rank."""
    for group in objects_of(document.get("communicators")):
        yield from _lost(group, poll)


def _lost(group: Mapping[str, object], poll: Poll) -> Iterator[Row]:
    for rank in objects_of(group.get("missing_ranks")):
        state = state_of(rank)
        if state in _STATES:
            severity, name = _STATES[state]
            yield _failure(poll, rank, f"ras_{state}", name, severity, _process(rank))
    for rank in objects_of(group.get("ranks")):
        status = rank.get("status")
        error = integer_of(status.get("async_error")) if isinstance(status, dict) else 0
        if error is not None and error not in _SOUND:
            known = 0 < error < len(_ERRORS)
            name = _ERRORS[error] if known else f"error {error}"
            message = f"{name} on {_process(rank)}"
            yield _failure(poll, rank, f"ras_error_{error}", name, "error", message)


def event_row(event: Mapping[str, object], poll: Poll) -> Row | None:
    """Return a row of an event that loses a process; None of any other event."""
    code = text_of(event.get("event"))
    if code is None or not any(word in code.upper() for word in _LOST):
        return None
    told = event.get("peer")
    peer = told if isinstance(told, dict) else {}
    details = text_of(event.get("details")) or ""
    message = f"{code} {_process(peer)} {details}".strip()
    name = code.replace("_", " ").lower()
    severity = "error" if "DEAD" in code.upper() else "warning"
    return _failure(poll, peer, code, name, severity, message)


def _failure(  # noqa: PLR0913, PLR0917 - a row is a row
    poll: Poll,
    who: Mapping[str, object],
    code: str,
    name: str,
    severity: str,
    message: str,
) -> Row:
    return {
        "host": host_of(who),
        "time_ns": poll.time,
        "code": code,
        "name": name,
        "severity": severity,
        "message": message,
        "place": poll.place,
    }


def _process(who: Mapping[str, object]) -> str:
    pid = integer_of(who.get("pid"))
    devices = who.get("cuda_devs", who.get("cuda_dev"))
    listed = devices if isinstance(devices, list) else [devices]
    known = [str(n) for n in map(integer_of, listed[:_MOST_DEVICES]) if n is not None]
    parts = (
        f"process {pid}" if pid is not None and pid >= 0 else "process",
        f"on {host_of(who)}" if host_of(who) else "",
        f"with CUDA device {','.join(known)}" if known else "",
    )
    return " ".join(part for part in parts if part)
