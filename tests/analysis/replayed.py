"""Operations drawn by hand, and replays of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from analysis._replay import NotReplayable, Replay, replays_of
from analysis.attempts import Attempts
from analysis.replays import ANALYSIS, replay_traces
from ingest.tables import Operations

#: What rows have where a test says nothing.
_USUAL: Final = {
    "file_id": "f",
    "run_id": "r",
    "attempt": 0,
    "trace_id": "t",
    "step": 0,
    "dp_rank": 0,
    "tp_rank": None,
    "microbatch": None,
    "chunk": None,
    "start_ns": None,
    "offset_ns": None,
}

NO_ATTEMPTS: Final = Attempts.create_empty().lazy()


def operations(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return rows of Operations, what they do not say filled in."""
    schema = Operations.create_empty().schema
    full = [{"sequence": None, **_USUAL, **row} for row in rows]
    return pl.DataFrame(full, schema=schema)


def found_in(rows: pl.DataFrame) -> list[Replay | NotReplayable]:
    """Return what `replays_of` finds."""
    return list(replays_of(rows.lazy(), NO_ATTEMPTS))


def replay_of(rows: pl.DataFrame) -> Replay:
    """Return the replay of a single trace that can be replayed."""
    (one,) = found_in(rows)
    assert isinstance(one, Replay), one
    return one


def reason_of(rows: pl.DataFrame) -> str:
    """Return why a single trace cannot be replayed."""
    (one,) = found_in(rows)
    assert isinstance(one, NotReplayable), one
    return one.reason


def answers(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the tables of the analysis, by name."""
    told = replay_traces(
        Operations.validate(rows, cast=True).lazy(), NO_ATTEMPTS, ANALYSIS.thresholds
    )
    return {table.__name__: frame for table, frame in told.items()}
