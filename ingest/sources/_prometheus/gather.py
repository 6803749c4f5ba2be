"""Samples of scrapes, held until the rows that they belong to are whole."""

from typing import Final

import polars as pl

from ingest.sources._prometheus.rows import UNTIMED, Maker, Rows
from ingest.sources._prometheus.values import FACTS
from ingest.tables import LinkSamples, PowerSamples

#: Samples that are held while more of their rows may come: six scrapes of ten metrics
#: of a thousand nodes with eight GPUs each; some 50 MB.
HELD_SAMPLES: Final = 500_000

#: Devices whose last time is remembered; some 10 MB.
KNOWN_DEVICES: Final = 100_000

# not by Polars, whose threads would start at the import and not survive a fork
_PARTS: Final = tuple(
    field
    for field, fact in enumerate(FACTS.iter_rows(named=True))
    if fact["is_part"] and fact["table"] == PowerSamples.sql_name()
)
_LINKS: Final = tuple(
    field
    for field, fact in enumerate(FACTS.iter_rows(named=True))
    if fact["table"] == LinkSamples.sql_name()
)

#: Columns of samples.
SAMPLE: Final = (
    "number",
    "at",
    "thing",
    "field",
    "metric",
    "quality",
    "real",
    "count",
)

_NOTHING: Final = Rows({}, (), 0)


class Gathering:
    """Gathers the metrics of a device and a time into one row, in bounded memory.

    A text in the order of time gives whole rows. Where samples come of a time whose
    row has left already (a dump has one metric after the other), each metric gets rows
    of its own, which name it: no row is ever written twice, and no sample is lost.
    """

    def __init__(self, maker: Maker, *, alone: bool) -> None:
        """Start with no samples.

        Args:
            maker: Makes the rows.
            alone: Whether each metric always has rows of its own. What is only a part
                of a column of a GPU then makes none.
        """
        self._maker = maker
        self._alone = alone
        self._held: list[pl.DataFrame] = []
        self._count = 0
        self._left: pl.DataFrame | None = None

    def take(self, samples: pl.DataFrame) -> Rows:
        """Take samples; return the rows of those that came too late for theirs.

        Args:
            samples: `time_ns` and the columns of SAMPLE but `at`. A port's counter that
                is blank says nothing.
        """
        samples = samples.with_columns(at=pl.col("time_ns").fill_null(UNTIMED))
        is_link = pl.col("field").is_in(_LINKS)
        is_blank = pl.col("real").is_null() & pl.col("count").is_null()
        kept = samples.select(SAMPLE).filter(~(is_link & is_blank))
        rows = _NOTHING
        if self._left is not None:
            marked = kept.join(
                self._left, on="thing", how="left", maintain_order="left"
            )
            is_late = (pl.col("at") <= pl.col("_left")).fill_null(value=False)
            late = marked.filter(is_late).drop("_left")
            kept = marked.filter(~is_late).drop("_left")
            if not late.is_empty():
                rows = self._rows(late, alone=True)
        if not kept.is_empty():
            self._held.append(kept)
            self._count += kept.height
        return rows

    def whole(self, *, everything: bool) -> Rows:
        """Return rows that are whole.

        Args:
            everything: Whether no more samples will come. Before, rows leave only once
                too many samples are held, and the last of each device stays.
        """
        if not self._count or not (everything or self._count > HELD_SAMPLES):
            return _NOTHING
        held = pl.concat(self._held)
        self._held, self._count = [], 0
        if everything or self._alone:
            return self._rows(held, alone=self._alone)
        last = pl.col("at").max().over("thing")
        leaves = held.select(
            (pl.col("at") < last) | (pl.col("at") == UNTIMED)
        ).to_series()
        if leaves.sum() * 2 < held.height:
            leaves = pl.repeat(True, held.height, eager=True)
        leaving, staying = held.filter(leaves), held.filter(~leaves)
        if not staying.is_empty():
            self._held, self._count = [staying], staying.height
        self._mark(leaving)
        return self._rows(leaving, alone=False)

    def _mark(self, leaving: pl.DataFrame) -> None:
        marks = leaving.group_by("thing").agg(_left=pl.col("at").max())
        if self._left is not None and self._left.height < KNOWN_DEVICES:
            both = pl.concat([self._left, marks])
            marks = both.group_by("thing").agg(pl.col("_left").max())
        self._left = marks

    def _rows(self, samples: pl.DataFrame, *, alone: bool) -> Rows:
        if alone:
            is_part = pl.col("field").is_in(_PARTS)
            samples = samples.filter(~is_part)
        return self._maker.rows(samples, alone=alone) if samples.height else _NOTHING
