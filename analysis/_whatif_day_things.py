"""Which things of a run that is kept by day can be asked for, and why others cannot."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from analysis._analysis import Frames
from analysis._repairs import LAST, Repair, of_name
from analysis._straggler_day_tables import StragglerDaysRanks
from analysis._whatif_doubts import PLACES
from analysis._whatif_places import ranks_of
from analysis._whatif_wishes import repair_of
from analysis.gpus import Gpus

#: Why a repair cannot be told of such a run.
KEPT_BY_DAY: Final = (
    "the steps of the run are kept by day: what each rank took in each step is not, and"
    " only things that were found slow, and everything typical, can be asked for"
)

#: Scope and name of things, as in StragglerRanks.
Things = frozenset[tuple[str, str]]


def things_by_text(slow: pl.DataFrame, last_stage: int | None) -> Mapping[str, Things]:
    """Return what was found slow, by the texts of the repairs that name it.

    Args:
        slow: Rows of StragglerRanks of the run.
        last_stage: The last stage of the run; None where none is known.
    """
    found: dict[str, Things] = {}
    for row in slow.to_dicts():
        own: Things = frozenset({(row["scope"], row["scope_id"])})
        for repair in _names(row, last_stage):
            found[repair.text] = found.get(repair.text, frozenset()) | own
    return found


def _names(row: dict[str, Any], last_stage: int | None) -> Iterator[Repair]:
    yield repair_of(row)
    if row["scope"] == "gpu" and row["rank"] is not None:
        yield of_name("gpu", row["scope_id"])
    if row["scope"] == "stage" and row["scope_id"] == str(last_stage):
        yield of_name("stage", LAST)


def why_untold(repair: Repair, frames: Frames, run_id: str) -> str:
    """Return why a repair cannot be told of a run that is kept by day.

    Args:
        repair: What is asked for, and was not found slow.
        frames: Ranks of days, and seats.
        run_id: The run.
    """
    if repair.kind not in PLACES:
        return KEPT_BY_DAY
    found = ranks_of(repair, _places(frames, run_id))
    return found if isinstance(found, str) else KEPT_BY_DAY


def _places(frames: Frames, run_id: str) -> pl.DataFrame:
    """Return where the ranks of a run sat, each place of a rank once."""
    of_run = pl.col("run_id") == run_id
    ranks = frames[StragglerDaysRanks].filter(of_run).select("rank").unique()
    names = ("rank", "host", "rack", "gpu_uuid", "pp_rank", "dp_rank")
    seats = frames[Gpus].filter(of_run).select(names).unique()
    return ranks.join(seats, on="rank", how="left").collect(engine="streaming")
