"""Some steps again: of slow ranks each, and of the others what counts."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._straggler_day_general import numbered
from analysis._straggler_day_pieces import Piece
from analysis._straggler_day_tiles import Sizes
from analysis._straggler_middle import Whole
from analysis._straggler_scores import score_stages, score_units
from analysis._straggler_seats import seat

#: Parts of a step that may tell why it was long.
PARTS: Final = ("data_ns", "communication_ns")

_STEP: Final = ("attempt", "step")

#: Columns of a compared step of a rank.
UNITS: Final = pl.Schema(
    {
        "attempt": pl.Int32,
        "step": pl.Int64,
        "rank": pl.Int32,
        "start_ns": pl.Int64,
        "duration_ns": pl.Int64,
        "data_ns": pl.Int64,
        "transfer_ns": pl.Int64,
        "stage": pl.Int32,
        "work_ns": pl.Int64,
        "peers_ns": pl.Float64,
        "ratio": pl.Float64,
    }
)

#: Columns of a compared step of a stage.
STAGES: Final = pl.Schema(
    {
        "attempt": pl.Int32,
        "step": pl.Int64,
        "stage": pl.Int32,
        "ratio": pl.Float64,
    }
)

#: Columns of what counts of all other ranks in a step.
OTHERS: Final = pl.Schema(
    {
        "attempt": pl.Int32,
        "step": pl.Int64,
        "others_ns": pl.Int64,
        "data_typical": pl.Float64,
        "transfer_typical": pl.Float64,
        "ranks": pl.Int64,
    }
)


@dataclass(frozen=True, slots=True)
class Near:
    """Some steps of a run.

    Attributes:
        units: Compared steps of the ranks that were asked for.
        stages: Compared steps of stages.
        others: Of each step `others_ns`, `data_typical`, `transfer_typical`, `ranks`.
    """

    units: pl.DataFrame
    stages: pl.DataFrame
    others: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Seated:
    """Where the ranks of a run sit, and how they are compared."""

    owner: str
    seats: pl.DataFrame
    sizes: Sizes


def of_rows(piece: Piece, ranks: Whole, seated: Seated) -> Near:
    """Compare the steps of a piece, whatever each has.

    Args:
        piece: Steps of an attempt.
        ranks: Ranks of slow things, in order.
        seated: Where ranks sit, and how they are compared.
    """
    least = seated.sizes.min_peers
    rows = numbered(piece, seated.owner, seated.sizes.block)
    named = rows.rename({"communication_ns": "transfer_ns"})
    known = seat(named, seated.seats)
    is_slow = pl.col("rank").is_in(ranks.tolist())
    others = known.group_by(_STEP).agg(
        others_ns=pl.col("work_ns").filter(~is_slow).max(),
        data_typical=pl.col("data_ns").median(),
        transfer_typical=pl.col("transfer_ns").median(),
        ranks=pl.len().cast(pl.Int64),
    )
    units = score_units(known, least).filter(is_slow)
    stages = score_stages(known, least)
    return Near(
        units.select(list(UNITS)).cast(UNITS),
        stages.select(list(STAGES)).cast(STAGES),
        others.select(list(OTHERS)).cast(OTHERS),
    )
