"""What runs held, to hold energy against: time of GPUs and of nodes."""

from typing import Final

import polars as pl

from analysis._energy_run import NODE, RunEnergy

_ATTEMPT: Final = ("run_id", "attempt")

_LENGTH: Final = pl.col("to_ns") - pl.col("from_ns")


def paid_time(run: RunEnergy) -> pl.DataFrame:
    """Return what each run and attempt held, for each level.

    Args:
        run: What energy is held against.

    Returns:
        `run_id`, `attempt` (null: all of it), `level`, `from_ns`, `to_ns`, `held_ns`,
        `expected_count`, `productive_held_ns`, `steps` and `tokens`.
    """
    held = run.holdings.allocations
    gpus = held.with_columns(_name="slot")
    nodes = (
        held.drop_nulls(["host", "attempt"])
        .group_by(*_ATTEMPT, _name="host")
        .agg(pl.col("from_ns").min(), pl.col("to_ns").max())
    )
    of_gpus = _totals(gpus, gpus.filter(pl.col("role") == "rank"), run.kept)
    told = [
        of_gpus.with_columns(level=pl.lit(level)) for level in ("gpu_board", "module")
    ]
    of_nodes = _totals(nodes, nodes, run.kept).with_columns(level=pl.lit(NODE))
    return pl.concat([*told, of_nodes])


def _totals(
    held: pl.LazyFrame, working: pl.LazyFrame, kept: pl.DataFrame
) -> pl.DataFrame:
    in_steps = _inside(working, kept)
    of_attempts = [
        _with_steps(held, in_steps, kept, list(key)) for key in (_ATTEMPT, ("run_id",))
    ]
    whole = of_attempts[1].with_columns(attempt=pl.lit(None, pl.Int32))
    named = of_attempts[0].drop_nulls("attempt")
    return pl.concat([named, whole.select(named.columns)])


def _inside(working: pl.LazyFrame, kept: pl.DataFrame) -> pl.DataFrame:
    """Return the time of all that works in the spans of kept steps of an attempt."""
    spans = kept.select(*_ATTEMPT, _from="from_ns", _to="to_ns")
    # ranks of an attempt are held together: spans of each of them would be many
    alike = working.group_by(*_ATTEMPT, "from_ns", "to_ns").agg(_holds=pl.len())
    both = alike.collect(engine="streaming").join(spans, on=_ATTEMPT)
    shared = pl.min_horizontal("to_ns", "_to") - pl.max_horizontal("from_ns", "_from")
    held = shared.clip(0) * pl.col("_holds").cast(pl.Int64)
    return both.select(*_ATTEMPT, productive_held_ns=held)


def _with_steps(
    held: pl.LazyFrame, in_steps: pl.DataFrame, kept: pl.DataFrame, key: list[str]
) -> pl.DataFrame:
    most = held.group_by(*_ATTEMPT).agg(expected=pl.col("_name").n_unique())
    counts = most.group_by(key).agg(expected_count=pl.col("expected").max())
    expected = counts.collect(engine="streaming")
    spans = held.group_by(key).agg(
        pl.col("from_ns").min(), pl.col("to_ns").max(), held_ns=_LENGTH.sum()
    )
    totals = spans.collect(engine="streaming")
    steps = kept.group_by(key).agg(
        pl.col("steps").sum(),
        tokens=pl.when(pl.col("tokens").null_count() == 0).then(pl.col("tokens").sum()),
    )
    of_steps = in_steps.group_by(key).agg(pl.col("productive_held_ns").sum())
    joined = (
        totals.join(expected, on=key, nulls_equal=True)
        .join(steps, on=key, how="left")
        .join(of_steps, on=key, how="left")
    )
    return joined.with_columns(pl.col("expected_count").cast(pl.Int64))
