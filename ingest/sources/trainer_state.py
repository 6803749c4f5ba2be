"""State that the Trainer of transformers saves: `trainer_state.json`.

`log_history` has an entry for every log: step, loss, gradient norm, learning rate.
There are no times, so steps have none either. An entry without a loss (an evaluation,
the summary at the end) makes no row.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Final

import msgspec
import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._console.steps import batch
from ingest.sources._json_whole import NotJsonError, decode_whole
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Source
from ingest.tables import TrainingMetrics

#: Such a file may have; a million logged steps take 150 MB. [B]
MOST_BYTES: Final = 512 * 1024 * 1024

#: What a number of a step is below: it has to fit 64 bits.
_MOST_STEPS: Final = 2**63


class _State(msgspec.Struct):
    """The part of the state that is read."""

    log_history: list[Any]


_SCHEMA: Final = pl.Schema(
    {
        "number": pl.UInt32,
        "step": pl.Int64,
        "loss": pl.Float64,
        "grad_norm": pl.Float64,
        "raw": pl.String,
    }
)


def recognizes(head: Head) -> bool:
    """Return whether the file is a JSON object that has a history of a Trainer."""
    text = head.text.lstrip()
    return text.startswith("{") and (
        '"log_history"' in text or '"best_model_checkpoint"' in text
    )


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the history.

    Raises:
        UnreadableFileError: If the file is no whole JSON, has no history, or is longer
            than such a file can be.
    """
    data = stream.read(MOST_BYTES + 1)
    expected = "a whole trainer_state.json with its log_history"
    if len(data) > MOST_BYTES:
        mend = "give the state of one training"
        raise UnreadableFileError(reading.path, f"byte {MOST_BYTES}", expected, mend)
    try:
        state, repairs = decode_whole(data, _State)
    except NotJsonError as error:
        mend = f"copy it again ({error})"
        raise UnreadableFileError(reading.path, "file", expected, mend) from error
    logs = [
        (number, *_cells(entry))
        for number, entry in enumerate(state.log_history, 1)
        if not isinstance(entry, dict) or "loss" in entry
    ]
    rule = pl.when(pl.col("step").is_null()).then(pl.lit("step|required"))
    frame = pl.DataFrame(logs, schema=_SCHEMA, orient="row").with_columns(rule=rule)
    yield replace(
        batch(frame, reading, "entry"), records=len(state.log_history), repairs=repairs
    )


def _cells(entry: object) -> tuple[int | None, float | None, float | None, str]:
    """Return step, loss, gradient norm, and the entry as text."""
    told = entry if isinstance(entry, dict) else {}
    raw = msgspec.json.encode(entry).decode()[:RAW_CHARACTERS]
    return (
        _step(told.get("step")),
        _real(told.get("loss")),
        _real(told.get("grad_norm")),
        raw,
    )


def _step(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < _MOST_STEPS else None


def _real(value: object) -> float | None:
    """Return a number, finite or not; newer versions write numbers as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


SOURCE: Final = Source(
    name="trainer-state",
    version=2,
    describes="trainer_state.json of transformers: loss and gradient norm by step",
    tables=(TrainingMetrics,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
