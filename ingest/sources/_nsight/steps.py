"""Steps of a training loop, from the ranges that it marked with NVTX.

There is no rule for their names. Three habits are clear enough to be read: PyTorch's
`ProfilerStep#7`, and `iteration 7` or `step 7` with what people put between the two. Of
several in a process the first counts: a step inside an iteration is a smaller thing.
"""

from typing import Final

import polars as pl

from ingest.sources._kineto.losses import Losses
from ingest.sources._nsight.database import Database
from ingest.sources._nsight.gather import THREAD, noted

#: Names of steps with their number, the habit that counts first.
_NAMES: Final = (
    r"^ProfilerStep#([0-9]{1,18})$",
    r"(?i)^(?:train(?:ing)?[ _-]?)?iter(?:ation)?[ _:#=-]*([0-9]{1,18})$",
    r"(?i)^(?:train(?:ing)?[ _-]?|global[ _-]?)?step[ _:#=-]*([0-9]{1,18})$",
)

#: What SQLite looks for, so that the other ranges, millions of them, stay in the file.
_LIKE: Final = "({0} LIKE '%step%' OR {0} LIKE '%iter%')"

_NVTX: Final = "NVTX_EVENTS"
_NUMBERS: Final = ("start", "end", "globalTid", "textId")

_STEPS: Final = pl.Schema(
    {
        "process": pl.Int64,
        "habit": pl.Int64,
        "step": pl.Int64,
        "start": pl.Int64,
        "duration": pl.Int64,
    }
)


def steps_of(database: Database, strings: pl.DataFrame, losses: Losses) -> pl.DataFrame:
    """Return `event`, `process`, `step`, `start`, `duration` of the steps. [ns]

    Args:
        database: The export.
        strings: Registered texts, by `id`.
        losses: Where to note that the table is damaged.
    """
    table = database.table(_NVTX)
    if not table or not {"start", "end"} <= database.columns(table):
        return pl.DataFrame(schema=_STEPS).with_columns(event=pl.lit(0, pl.Int64))
    registered = strings.select(textId="id", registered="value")
    frames = [pl.DataFrame(schema=_STEPS)]
    with noted(losses, table):
        where = _where(database.columns(table))
        texts = database.texts(table, _NUMBERS, "text", where)
        frames += (_steps(rows, registered) for rows in texts)
    found = pl.concat(frames).filter(
        pl.col("habit") == pl.col("habit").min().over("process")
    )
    return found.sort("start", "duration", "step").with_columns(
        event=pl.int_range(pl.len())
    )


def _where(columns: frozenset[str]) -> str:
    named = [_LIKE.format("text")] if "text" in columns else []
    if "textId" in columns:
        named.append("textId IS NOT NULL")
    return f'WHERE "end" IS NOT NULL AND ({" OR ".join(named) or "FALSE"})'


def _steps(rows: pl.DataFrame, registered: pl.DataFrame) -> pl.DataFrame:
    named = rows.join(registered, on="textId", how="left", maintain_order="left")
    name = pl.coalesce("text", "registered").str.strip_chars()
    numbers = [name.str.extract(habit) for habit in _NAMES]
    habit = pl.coalesce(
        pl.when(number.is_not_null()).then(pl.lit(place, pl.Int64))
        for place, number in enumerate(numbers)
    )
    found = named.select(
        process=pl.col("globalTid").fill_null(0) // THREAD,
        habit=habit,
        step=pl.coalesce(numbers).cast(pl.Int64, strict=False),
        start="start",
        duration=pl.col("end") - pl.col("start"),
    )
    return found.drop_nulls(("step", "start", "duration"))
