"""The time of each seat cut into cells: steps, and the gaps between them."""

from typing import Final

import polars as pl

from analysis._ledger_accounts import FILLED
from analysis._ledger_seats import SEAT
from analysis._ledger_waiting import SHORT_NS

#: What a trace tells of a step.
TOLD: Final = (
    "straggler_wait",
    "pipeline_bubble",
    "exposed_communication",
    "productive",
    "idle",
    "basis",
)

#: What names the step of a cell.
_NAMED: Final = ("spell", "step")


def attach_traces(steps: pl.LazyFrame, traced: pl.LazyFrame) -> pl.LazyFrame:
    """Give each row of the step log the window of its step on the device.

    A window that lies further from the row than both are long together is that of
    another step: profilers may count from where they began. What a row is longer than
    its window by is a gap like those inside: idle where it is short.

    Args:
        steps: Rows of step logs: seat, step, start_ns, end_ns and whatever else.
        traced: Windows: seat, step, start_ns, end_ns, is_redone and TOLD.

    Returns:
        The rows with the columns of TOLD, null where no window is near, and the windows
        that no row has, as rows of their own.
    """
    rows = steps.with_row_index("row")
    windows = traced.with_row_index("window")
    bounds = [SEAT, "step", "start_ns", "end_ns"]
    pairs = windows.select("window", *bounds).join(
        rows.select("row", *bounds), on=[SEAT, "step"], suffix="_log"
    )
    apart = (pl.col("start_ns") - pl.col("start_ns_log")).abs()
    window, row = (
        pl.col(f"end_ns{of}") - pl.col(f"start_ns{of}") for of in ("", "_log")
    )
    near = (
        pairs.with_columns(apart=apart, beyond=(row - window).clip(0))
        .filter(pl.col("apart") <= window + row)
        .sort("apart", "row", "window")
        .unique("window", keep="first", maintain_order=True)
        .unique("row", keep="first", maintain_order=True)
        .select("row", "window", "beyond")
    )
    short = pl.when(pl.col("beyond") <= SHORT_NS).then("beyond").otherwise(0)
    amounts = (
        near.join(windows.select("window", *TOLD), on="window")
        .with_columns(idle=pl.col("idle") + short)
        .drop("window", "beyond")
    )
    alone = windows.join(near, on="window", how="anti").drop("window")
    told = rows.join(amounts, on="row", how="left").drop("row")
    return pl.concat([told, alone], how="diagonal")


def cut_cells(rows: pl.LazyFrame, zoned: pl.LazyFrame) -> pl.LazyFrame:
    """Clip steps to the zone of their seat and to the start of the step that follows.

    Args:
        rows: Columns seat, start_ns, end_ns, spell, step and what the evidence says.
        zoned: What `zones` returns.

    Returns:
        Cells of a seat that share no time: seat, start_ns, end_ns, spell, step, basis,
        is_redone, is_traced and FILLED. Left out are those of no length and those of
        steps that came before the first completed one or after the last.
    """
    bounds = ["opened_ns", "closed_ns"]
    ends = ["first_spell", "first_step", "last_spell", "last_step"]
    is_outside = _is_before("", "first_") | _is_before("last_", "")
    placed = rows.join(zoned.select(SEAT, *bounds, *ends), on=SEAT)
    start, end = pl.col("start_ns"), pl.col("end_ns")
    opened = (
        placed.filter(~is_outside.fill_null(value=False))
        .with_columns(start.clip(*bounds), pl.min_horizontal(end, "closed_ns"))
        .select(SEAT, start, end, *_NAMED, "basis", "is_redone", "is_traced", *FILLED)
        .filter(start < end)
        .sort(SEAT, start, end)
    )
    following = pl.when(pl.col(SEAT) == pl.col(SEAT).shift(-1)).then(start.shift(-1))
    cut = opened.with_columns(pl.min_horizontal(end, following).alias("end_ns"))
    return cut.filter(start < end)


def _is_before(one: str, other: str) -> pl.Expr:
    """Whether one step was done before another, null where one is not known."""
    spell, step = pl.col(f"{one}spell"), pl.col(f"{one}step")
    other_spell, other_step = pl.col(f"{other}spell"), pl.col(f"{other}step")
    return (spell < other_spell) | ((spell == other_spell) & (step < other_step))


def gaps(cells: pl.LazyFrame, zoned: pl.LazyFrame) -> pl.LazyFrame:
    """Return what the cells of each seat leave of its zone.

    Args:
        cells: What `cut_cells` returns.
        zoned: What `zones` returns.

    Returns:
        Columns seat, run_id, attempt, start_ns and end_ns, and the spell and step
        before and after, null where there is none; none without length. [ns]
    """
    final = zoned.select(SEAT, start_ns="closed_ns", end_ns="closed_ns")
    bounds = [cells.select(SEAT, "start_ns", "end_ns", *_NAMED), final]
    ordered = pl.concat(bounds, how="diagonal").sort(
        *[SEAT, "start_ns", "end_ns", *_NAMED], nulls_last=True
    )
    same = pl.col(SEAT) == pl.col(SEAT).shift(1)
    before = [
        pl.when(same).then(pl.col(column).shift(1)).alias(name)
        for name, column in (
            ("begun", "end_ns"),
            *((f"{name}_before", name) for name in _NAMED),
        )
    ]
    after = [pl.col(name).alias(f"{name}_after") for name in _NAMED]
    between = ordered.select(SEAT, *before, *after, end_ns="start_ns")
    lasting = between.filter((pl.col("begun") < pl.col("end_ns")).fill_null(value=True))
    known = zoned.select(SEAT, "run_id", "attempt", "opened_ns")
    opened = lasting.join(known, on=SEAT).with_columns(
        start_ns=pl.coalesce("begun", "opened_ns")
    )
    return opened.drop("begun", "opened_ns").filter(
        pl.col("start_ns") < pl.col("end_ns")
    )
