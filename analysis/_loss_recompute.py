"""Steps that were done again, by the stop that made it so."""

import polars as pl


def share_recompute(
    recompute: pl.DataFrame, stops: pl.DataFrame, redone: pl.DataFrame
) -> pl.DataFrame:
    """Share what each attempt lost to recompute among its stops.

    An attempt mostly has one stop, which has all. Of several each has the part of the
    steps that were lost to it; the parts add up to the whole.

    Args:
        recompute: Columns run_id, attempt and gpu_ns: what the ledger booked. [ns]
        stops: Rows of Interruptions.
        redone: Columns run_id, attempt, from_ns and to_ns of the steps lost. [ns]

    Returns:
        Columns run_id, attempt, stop, planned, from_ns, to_ns and gpu_ns: a row for
        each stop, and for what no stop explains, without `stop`.
    """
    attempt = ["run_id", "attempt"]
    weight = pl.col("lost_steps").fill_null(0).cast(pl.Int128)
    is_last = pl.int_range(pl.len()).over(attempt) == pl.len().over(attempt) - 1
    weighed = stops.sort(*attempt, "stop").with_columns(_all=weight.sum().over(attempt))
    alone = pl.when(pl.col("_all") > 0).then(weight).otherwise(is_last.cast(pl.Int128))
    reached = pl.col("_weight").cum_sum().over(attempt)
    total, every = pl.col("gpu_ns"), pl.col("_weight").sum().over(attempt)
    shares = weighed.with_columns(_weight=alone).with_columns(
        _done=reached, _every=every
    )
    joined = shares.join(recompute, on=attempt, how="left", maintain_order="left")
    done = total * pl.col("_done") // pl.col("_every")
    before = total * (pl.col("_done") - pl.col("_weight")) // pl.col("_every")
    columns = [*attempt, "stop", "planned", "gpu_ns"]
    given = joined.with_columns(gpu_ns=(done - before).fill_null(0)).select(columns)
    left = recompute.join(stops, on=attempt, how="anti").with_columns(
        stop=pl.lit(None, pl.Int32), planned=pl.lit(None, pl.Boolean)
    )
    every_row = pl.concat([given, left.select(columns)])
    return every_row.join(redone, on=attempt, how="left")
