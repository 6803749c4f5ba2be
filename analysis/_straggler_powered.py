"""Power telemetry of slow things beside that of their job, over the same time."""

import polars as pl

from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_power import STATISTICS, gpu_keys, power_of
from analysis._straggler_things import RANK


def spell_windows(slow: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Return when each spell was in each attempt: what lies between is nobody's time.

    Args:
        slow: Spells: `spell`, `run_id`, `moment_from` and `moment_to`.
        spans: When each rank was slow: `spell`, RANK, `from_ns` and `to_ns`.

    Returns:
        Columns `spell`, `window` (a number: spells of the same steps share one),
        `run_id`, `attempt`, `from_ns` and `to_ns`.
    """
    steps = pl.struct("run_id", "moment_from", "moment_to")
    numbered = slow.select("spell", window=steps.rank("dense"))
    shared = spans.join(numbered, on="spell").with_columns(
        pl.col("from_ns").min().over("window", "attempt"),
        pl.col("to_ns").max().over("window", "attempt"),
    )
    columns = ["spell", "window", "run_id", "attempt", "from_ns", "to_ns"]
    return shared.select(columns).unique().sort(columns)


def powered(
    windows: pl.DataFrame,
    spans: pl.DataFrame,
    seats: pl.DataFrame,
    samples: pl.LazyFrame,
    limits: CauseLimits,
) -> pl.DataFrame:
    """Return the statistics of each spell's GPUs, and the median over its job's GPUs.

    Each GPU is told by itself first, attempt by attempt. Attempts weigh as much for the
    job as they do for the spell: by the samples of its GPUs.

    Args:
        windows: When spells were, as `spell_windows` gives them.
        spans: When each rank was slow: `spell`, RANK, `from_ns` and `to_ns`.
        seats: Where ranks sit.
        samples: Rows of PowerSamples.
        limits: When a GPU is under load, and at its limit.

    Returns:
        `spell`, STATISTICS (the mean over its GPUs), the same with `_job`, and
        `power_rows`, of its GPUs.
    """
    keys, of_attempt = gpu_keys(seats), ["run_id", "attempt"]
    times = windows.drop("spell").unique().sort("window", "attempt")
    # medians hold all samples of a window: one at a time
    told = [
        power_of(samples, keys.join(time, on=of_attempt), "window", limits)
        for time in times.partition_by("window", maintain_order=True)
    ]
    spells = windows.select("spell", "window").unique()
    own = spans.select("spell", *RANK, is_own=pl.lit(value=True))
    gpus = pl.concat(told).join(spells, on="window")
    marked = gpus.join(own, on=["spell", *RANK], how="left")
    is_own = pl.col("is_own").fill_null(value=False)
    # sums of floats depend on their order
    ordered = marked.sort("spell", *RANK).group_by(
        "spell", "attempt", maintain_order=True
    )
    attempts = ordered.agg(
        *(pl.col(name).filter(is_own).mean() for name in STATISTICS),
        *(pl.col(name).median().alias(f"{name}_job") for name in STATISTICS),
        power_rows=pl.col("power_rows").filter(is_own).sum(),
    )
    of_spells = attempts.group_by("spell", maintain_order=True)
    return of_spells.agg(
        *(_weighed(name, name) for name in STATISTICS),
        *(_weighed(f"{name}_job", name) for name in STATISTICS),
        power_rows=pl.col("power_rows").sum(),
    )


def _weighed(name: str, known: str) -> pl.Expr:
    """Return a mean over attempts in which something is known of the spell's GPUs."""
    value = pl.when(pl.col(known).is_not_null()).then(name)
    rows = pl.when(value.is_not_null()).then("power_rows")
    weighed = (value * pl.col("power_rows")).sum() / rows.sum()
    return pl.when(rows.count() > 0).then(weighed).alias(name)
