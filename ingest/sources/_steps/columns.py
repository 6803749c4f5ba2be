"""The columns of a table of steps: which must be there, and what the others default to.

Without a column, or where a cell of it is empty, a row is of the host's clock, of one
rank and of one step.
"""

import logging
from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import refuse_all
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import StepTimings

#: Columns that such a table must have; a cell may be empty where the table allows it.
REQUIRED: Final = (
    StepTimings.step.name,
    StepTimings.rank.name,
    StepTimings.start_ns.name,
    StepTimings.duration_ns.name,
)

#: Columns that such a table may have, with their types.
TYPES: Final = {
    name: dtype
    for name, dtype in pl.Schema(StepTimings).items()
    if name != StepTimings.file_id.name
}

_RUN: Final = StepTimings.run_id.name
_DEFAULTS: Final = {
    StepTimings.clock.name: "host",
    StepTimings.scope.name: "rank",
    StepTimings.step_count.name: 1,
}
_LOG: Final = logging.getLogger(__name__)


def check(names: Sequence[str], reading: Reading, place: str) -> int:
    """Check the columns of a file, and return how many of them are passed over.

    Raises:
        UnreadableFileError: If a column is missing or there twice.
    """
    missing = [name for name in REQUIRED if name not in names]
    twice = sorted({name for name in names if names.count(name) > 1} & TYPES.keys())
    if missing:
        expected = f"a column {missing[0]!r}"
        mend = f"a table of steps needs the columns {', '.join(REQUIRED)}"
        raise UnreadableFileError(reading.path, place, expected, mend)
    if twice:
        expected = f"one column {twice[0]!r}"
        raise UnreadableFileError(reading.path, place, expected, "rename the other one")
    unknown = [name for name in names if name not in TYPES]
    if unknown:
        _LOG.info("%s: columns passed over: %s", reading.path, ascii(unknown))
    return len(unknown)


def batch(
    cells: pl.DataFrame,
    reading: Reading,
    refused: Sequence[Refusal] = (),
    repairs: int = 0,
) -> Batch:
    """Make a batch of cells, refusing rows that have a `rule` or get one.

    Args:
        cells: Columns of TYPES, as text or integers, with `place`, `line` and `rule`.
        reading: What is known of the file.
        refused: Records that did not come as far as cells.
        repairs: Repairs that reading needed. [1]
    """
    known = _typed(cells)
    broken = known.filter(pl.col("rule").is_not_null())
    rows = _complete(known.filter(pl.col("rule").is_null()), reading)
    return Batch(
        rows={} if rows.is_empty() else {StepTimings: rows},
        refused=(*refused, *refuse_all(StepTimings, broken)),
        records=cells.height + len(refused),
        repairs=repairs,
    )


def _typed(cells: pl.DataFrame) -> pl.DataFrame:
    numbers = [name for name in cells.columns if name in TYPES and _is_number(name)]
    values = {name: pl.col(name).cast(TYPES[name], strict=False) for name in numbers}
    lost = [
        pl.when(pl.col(name).is_not_null() & value.is_null()).then(
            pl.lit(f"{name}|integer")
        )
        for name, value in values.items()
    ]
    return cells.with_columns(rule=pl.coalesce("rule", *lost), **values)


def _complete(rows: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Add the run, and what the file left out.

    The run of a run card wins over the data, the data over the other ways to name one.
    """
    named = _RUN in rows.columns and reading.run_id_basis != "run_card"
    given = pl.when(pl.col(_RUN) != "").then(_RUN) if named else pl.lit(None, pl.String)
    defaults = [
        (pl.col(name) if name in rows.columns else pl.lit(None, TYPES[name]))
        .fill_null(value)
        .alias(name)
        for name, value in _DEFAULTS.items()
    ]
    kept = [name for name in rows.columns if name in TYPES]
    return rows.select(*kept, "place").with_columns(
        given.fill_null(reading.run_id).alias(_RUN), *defaults
    )


def _is_number(name: str) -> bool:
    return TYPES[name].is_integer()
