"""Whether anything read tells of interruptions: traces alone do not."""

import polars as pl

from analysis import Frames
from ingest.tables import GroupStatus
from reports._section import Scope
from reports._words import plural


def told(attempts: pl.DataFrame) -> pl.DataFrame:
    """Return the attempts of runs that more than traces tell of.

    Traces are samples: when a run began and ended, and whether it stopped between
    two of them, they do not tell, and some count time from a moment of their own.

    Args:
        attempts: Rows of Attempts.
    """
    return attempts.filter(pl.col("basis").ne_missing("traces").any().over("run_id"))


def unknown(seen: pl.DataFrame, frames: Frames, scope: Scope) -> str:
    """Return what was read where nothing tells of interruptions.

    Args:
        seen: Rows of Attempts.
        frames: The tables.
        scope: Runs of the page.
    """
    runs = seen["run_id"].n_unique()
    if not runs:
        return "Whether runs were interrupted is not known."
    which = "the run was" if runs == 1 else "runs were"
    dumps = scope.of_runs(frames[GroupStatus]).head(1).collect().height
    what = "traces or dumps" if dumps else "traces"
    return f"Whether {which} interrupted is not known: only {what} were read."


def untold(seen: pl.DataFrame, attempts: pl.DataFrame) -> str:
    """Return of how many runs nothing is known, where others are told of.

    Args:
        seen: Rows of Attempts.
        attempts: Those of them that are told of.
    """
    more = seen["run_id"].n_unique() - attempts["run_id"].n_unique()
    if not more:
        return ""
    return f" Of {plural(more, 'more run')} only traces were read: not known."
