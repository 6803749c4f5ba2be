"""A synthetic history of a long run that stops again and again, and the truth of it.

The default is a run of 2,048 nodes over 54 days that stops as Llama 3's did (arXiv
2407.21783, table 5). All that is drawn comes from one seed, and the truth from the
history's own clock: no analysis has any part in it.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import polars as pl

from ingest.synthetic._history_arrivals import arrivals, lengths
from ingest.synthetic._history_causes import (
    PLANNED,
    TABLE_5,
    UNEXPECTED,
    UPGRADE,
    Cause,
)
from ingest.synthetic._history_clock import Leg, Step, run_history
from ingest.synthetic._history_files import (
    card_lines,
    kernel_lines,
    list_lines,
    sacct_lines,
    step_lines,
)
from ingest.synthetic._history_scenario import SECOND, History
from ingest.synthetic._history_truth import history_truth
from ingest.synthetic.raw_text import write_lines

__all__ = [
    "DATA",
    "PLANNED",
    "TABLE_5",
    "TRUTH",
    "UNEXPECTED",
    "Cause",
    "History",
    "Leg",
    "Step",
    "draw_attempts",
    "history_truth",
    "run_history",
    "write_history",
]

#: Folder of the raw files under the one that is given.
DATA: Final = "history"

#: File with the truth; beside the folder, so that it is never ingested.
TRUTH: Final = "history-truth.json"


def write_history(folder: Path, seed: int, **changed: Any) -> History:
    """Write a history in raw formats under `history`, and its truth beside it.

    The same seed and fields give the same bytes.

    Args:
        folder: Where to.
        seed: Seed of every random draw.
        changed: Fields of History that are not the default.
    """
    history = History(seed=seed, **changed)
    legs = run_history(history)
    data = folder / DATA
    write_lines(data / "run.toml", card_lines(history))
    write_lines(data / "sacct.txt", sacct_lines(history, legs))
    write_lines(data / "interruptions.csv", list_lines(legs))
    write_lines(data / "kernel.log", kernel_lines(history, legs))
    write_lines(data / "steps.csv.gz", step_lines(legs))
    truth = json.dumps(history_truth(history, legs), indent=2)
    write_lines(folder / TRUTH, [truth])
    return history


def draw_attempts(seeds: Iterable[int], **changed: Any) -> pl.DataFrame:
    """Draw the attempts of many histories, without steps or files.

    They are end to end: nothing is between two attempts.

    Args:
        seeds: A history each.
        changed: Fields of History that are not the default.

    Returns:
        A row for each attempt: run_id (`seed-` and the seed), attempt, start_ns,
        end_ns, cause (name of what ended it, null for the last) and planned. [ns]
    """
    return pl.concat([_attempts(History(seed=seed, **changed)) for seed in seeds])


def _attempts(history: History) -> pl.DataFrame:
    stops = arrivals(history)
    ends = pl.Series(lengths(history, stops), dtype=pl.Int64).cum_sum() * SECOND
    causes = [cause.name for _, cause in stops]
    return pl.DataFrame(
        {
            "end_ns": ends + history.begun_ns,
            "cause": pl.Series([*causes, None], dtype=pl.String),
        }
    ).select(
        run_id=pl.lit(f"seed-{history.seed}"),
        attempt=pl.int_range(pl.len(), dtype=pl.Int32),
        start_ns=pl.col("end_ns").shift(1, fill_value=history.begun_ns),
        end_ns="end_ns",
        cause="cause",
        planned=pl.col("cause").eq(UPGRADE.name).fill_null(value=False),
    )
