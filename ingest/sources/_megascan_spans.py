"""Begin and end of each operation of a MegaScan trace, brought together.

Begin and end of what bears one name on one rank are nested like brackets: an end
belongs to the last begin before it that has none. What is begun in one block of a file
may end in the next.
"""

from typing import ClassVar, Final

import polars as pl

#: What begin and end of an operation have in common.
_SAME: Final = ("rank", "thread", "name")

#: Rule of a begin without an end, and of an end without a begin.
NO_END: Final = "no_end"
NO_BEGIN: Final = "no_begin"


class Spans:
    """Operations that have begun.

    Attributes:
        open: Begins that wait for their end.
    """

    def __init__(self, schema: pl.Schema) -> None:
        """Begin with none, where edges have the columns of a schema."""
        self.open = pl.DataFrame(schema=schema)

    def close(self, edges: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return what ends among some edges, and the ends of what never began.

        Args:
            edges: In the order of the file: `is_begin`, and what `schema` names.

        Returns:
            Ends with the `begin` of their operation [ns], and ends without one.
        """
        level = _level().over(_SAME)
        nested = pl.concat([self.open, edges]).with_columns(level=level)
        where = (*_SAME, "level")
        is_begin = pl.col("is_begin")
        paired = nested.with_columns(
            begun=is_begin.shift(1).over(where),
            begin=pl.col("time").shift(1).over(where),
            ends=~is_begin.shift(-1).over(where),
        )
        is_end = ~is_begin & pl.col("begun").fill_null(value=False)
        waits = is_begin & ~pl.col("ends").fill_null(value=False)
        lost = ~is_begin & ~pl.col("begun").fill_null(value=False)
        self.open = paired.filter(waits).select(self.open.columns)
        return paired.filter(is_end), paired.filter(lost)


def _level() -> pl.Expr:
    """Return how many are open around a begin and its end."""
    is_begin = pl.col("is_begin")
    depth = pl.when(is_begin).then(1).otherwise(-1).cast(pl.Int64).cum_sum()
    return depth + pl.when(is_begin).then(0).otherwise(1)


class Sequences:
    """How many operations of a kind a rank has done in each step so far."""

    _BY: ClassVar = ("rank", "step", "name")

    def __init__(self) -> None:
        """Begin with none."""
        keys = {"rank": pl.Int64, "step": pl.Int64, "name": pl.String}
        self._done = pl.DataFrame(schema=keys | {"done": pl.Int64})

    def number(self, ended: pl.DataFrame) -> pl.DataFrame:
        """Add `sequence`: the place of each operation among those of its kind.

        Ranks that do the same work number it alike, so that it can be compared.
        """
        known = ended.join(
            self._done, on=self._BY, how="left", nulls_equal=True, maintain_order="left"
        )
        place = pl.int_range(pl.len()).over(self._BY)
        numbered = known.with_columns(sequence=place + pl.col("done").fill_null(0))
        counted = numbered.group_by(self._BY).agg(done=pl.col("sequence").max() + 1)
        parts = pl.concat([self._done, counted.select(self._done.columns)])
        self._done = parts.group_by(self._BY).agg(pl.col("done").max())
        return numbered.drop("done")
