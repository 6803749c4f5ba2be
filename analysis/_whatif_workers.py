"""The slowest workers of a trace, as a replay names them."""

import polars as pl

from analysis._replay_scenarios import Scenarios
from analysis._replay_slowdowns import slowdowns_of
from analysis._replay_steps import Replay


def slowest_workers(replay: Replay) -> pl.DataFrame:
    """Return the slowest 3 % of the workers, one at least: `pp_rank`, `dp_rank`.

    A worker's slowdown is what is left of the step's when all others are ideal
    (arXiv 2505.05713, section 5.1).

    Args:
        replay: A trace.
    """
    found = slowdowns_of(Scenarios.of(replay)).slowest
    return found.select("pp_rank", "dp_rank").sort("pp_rank", "dp_rank")
