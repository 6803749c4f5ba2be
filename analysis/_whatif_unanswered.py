"""Runs whose steps are known, but not well enough to ask what a repair would save."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import polars as pl

from analysis._analysis import Frames
from ingest.tables import Operations, StepTimings

#: Why a run whose steps are timed has no answer.
NO_WAITS: Final = (
    "the time that ranks waited is not told, and without it all their steps look alike"
)

#: A row without an answer.
BLANK: Final[Mapping[str, Any]] = {
    "repair": "everything",
    "method": "none",
    "scope": "everything",
    "is_joint": False,
    "is_bound": False,
    "is_reliable": False,
    "is_beyond_noise": False,
    "left_out_count": 0,
}


def unanswered(
    frames: Frames, answered: Collection[str], unfit: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return a row for each run that has no answer, with the reason.

    Args:
        frames: Step timings and operations.
        answered: Runs that have one.
        unfit: Why the traces of a run cannot be replayed.
    """
    of_ranks = StepTimings.scope.col == "rank"
    sources = (frames[StepTimings].filter(of_ranks), frames[Operations])
    steps = pl.concat(
        rows.select("run_id", "attempt", "step", "rank") for rows in sources
    )
    seen = (
        steps.filter(pl.col("rank").is_not_null())
        .group_by("run_id")
        .agg(
            steps=pl.struct("attempt", "step").n_unique().cast(pl.Int64),
            ranks_held=pl.col("rank").n_unique().cast(pl.Int64),
        )
        .collect(engine="streaming")
        .sort("run_id")
    )
    return [
        {**BLANK, **row, "doubt": unfit.get(row["run_id"], NO_WAITS)}
        for row in seen.to_dicts()
        if row["run_id"] not in answered
    ]
