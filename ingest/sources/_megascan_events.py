"""Begin and end of operations, from the events of a MegaScan trace to columns."""

from typing import Final

import msgspec
import polars as pl
from msgspec import Raw

from ingest.sources._kineto.columns import number_text, times
from ingest.sources._kineto.events import decode_as
from ingest.sources._kineto.limits import LATEST_NS

_NOTHING: Final = Raw(b"")

#: Phases of an event that bound an operation; instants have no length.
BEGIN: Final = "B"
END: Final = "E"

#: Largest rank, micro-batch or stage that Int32 holds.
_GREATEST: Final = (1 << 31) - 1

#: Largest step that Int64 holds.
_LAST_STEP: Final = (1 << 63) - 1


class _Args(msgspec.Struct, gc=False):
    """What an operation was; all but the iteration stand at its end only."""

    iteration: int | None = None
    microbatch: int | None = None
    model_chunk: int | None = None
    pp_rank: int | None = None
    dp_rank: int | None = None
    tp_rank: int | None = None


_NO_ARGS: Final = _Args()


class _Event(msgspec.Struct, gc=False):
    """An event."""

    name: str = ""
    ph: str = ""
    ts: Raw = _NOTHING
    pid: int | None = None
    tid: int | str | None = None
    args: _Args | None = None


_DECODER: Final = msgspec.json.Decoder(list[_Event], strict=False)

#: Columns of an edge: the begin or the end of an operation.
SCHEMA: Final = pl.Schema(
    {
        "event": pl.Int64,
        "is_begin": pl.Boolean,
        "name": pl.String,
        "time": pl.Int64,
        "rank": pl.Int64,
        "thread": pl.String,
        "step": pl.Int64,
        "microbatch": pl.Int64,
        "chunk": pl.Int64,
        "pp_rank": pl.Int64,
        "dp_rank": pl.Int64,
        "tp_rank": pl.Int64,
    }
)


def edges_of(text: bytes | memoryview, first: int) -> pl.DataFrame:
    """Return begins and ends of a JSON array of events, times in ns.

    Args:
        text: The array.
        first: Number of its first event.
    """
    numbered = enumerate(decode_as(text, _Event, _DECODER), first)
    chosen = [(number, one) for number, one in numbered if one.ph in {BEGIN, END}]
    events = [one for _, one in chosen]
    args = [one.args or _NO_ARGS for one in events]
    time = times([number_text([one.ts for one in events])] if events else [])
    columns = {
        "event": [number for number, _ in chosen],
        "is_begin": [one.ph == BEGIN for one in events],
        "name": [one.name for one in events],
        "time": time.set(time.abs() > LATEST_NS, None),
        "rank": [_index(one.pid) for one in events],
        "thread": [str(one.tid) for one in events],
        "step": [_index(one.iteration, _LAST_STEP) for one in args],
        "microbatch": [_index(one.microbatch) for one in args],
        "chunk": [_index(one.model_chunk) for one in args],
        "pp_rank": [_index(one.pp_rank) for one in args],
        "dp_rank": [_index(one.dp_rank) for one in args],
        "tp_rank": [_index(one.tp_rank) for one in args],
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def _index(value: int | None, greatest: int = _GREATEST) -> int | None:
    return value if value is not None and 0 <= value <= greatest else None
