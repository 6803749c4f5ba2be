"""Records that say that something began, each with the one that says that it ended."""

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from ingest._mapping_cells import RULE, column_of
from ingest._mapping_plan import Pairing, Plan
from ingest._mapping_targets import UNTIL

#: Rule of a record that ends what nothing began.
NO_START: Final = "until|no_start"

_ORDER: Final = "_order"


@dataclass(slots=True)
class Pairs:
    """The records of one file: what is open waits for its end.

    Of several that are open under one key, the oldest ends first.
    """

    plan: Plan
    pairing: Pairing
    open: pl.DataFrame | None = field(default=None)

    def take(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return starts with the fields of their ends, and ends without a start.

        Args:
            frame: Records, in the order of the file.
        """
        both = frame if self.open is None else pl.concat([self.open, frame])
        keys = [column_of(name) for name in self.pairing.by]
        is_end, is_start = self.pairing.is_end, self.plan.where & ~self.pairing.is_end
        known = both.with_row_index(_ORDER).filter(is_end | is_start)
        counted = known.with_columns(_is_end=is_end).with_columns(
            _surplus=pl.when("_is_end").then(1).otherwise(-1).cum_sum().over(keys)
        )
        most = pl.col("_surplus").cum_max().shift(fill_value=0).over(keys)
        orphan = pl.col("_is_end") & (
            pl.col("_surplus") > pl.max_horizontal(most, pl.lit(0))
        )
        marked = counted.with_columns(_orphan=orphan)
        orphans = marked.filter("_orphan").with_columns(pl.lit(NO_START).alias(RULE))
        ranked = marked.filter(~pl.col("_orphan")).with_columns(
            _nth=pl.int_range(pl.len()).over([*keys, "_is_end"])
        )
        starts = ranked.filter(~pl.col("_is_end"))
        ends = ranked.filter("_is_end").select(
            *keys, "_nth", *self._renamed(), _ended=pl.lit(value=True)
        )
        joined = starts.join(
            ends, on=[*keys, "_nth"], how="left", nulls_equal=True
        ).sort(_ORDER)
        is_open = pl.col("_ended").is_null()
        self.open = joined.filter(is_open).select(frame.columns)
        closed = joined.filter(~is_open).select(*frame.columns, *self._ends())
        blank = [pl.lit(None, pl.String).alias(name) for name in self._ends()]
        lost = orphans.select(*frame.columns, *blank)
        return pl.concat([closed, lost])

    def rest(self) -> pl.DataFrame | None:
        """Return what nothing has ended; None where there is nothing."""
        if self.open is None or self.open.is_empty():
            return None
        blank = [pl.lit(None, pl.String).alias(name) for name in self._ends()]
        return self.open.with_columns(*blank)

    def _ends(self) -> list[str]:
        return [column_of(f"{UNTIL}{name}") for name in self.plan.fields]

    def _renamed(self) -> list[pl.Expr]:
        names = zip(self.plan.fields, self._ends(), strict=True)
        return [pl.col(column_of(name)).alias(end) for name, end in names]
