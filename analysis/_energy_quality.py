"""What is to be doubted about a measured energy."""

import polars as pl


def reasons() -> pl.Expr:
    """Return the reasons for doubt, separated by commas; null where there are none."""
    reasons = {
        "no_samples": ~pl.col("is_fit") & (pl.col("samples_count") == 0),
        "single_sample": pl.col("reads") == 1,
        "unbracketed": ~pl.col("is_bracketed"),
        "gap": pl.col("gap_ns") > 0,
        "counter_reset": (pl.col("reset_ns") > 0) | (pl.col("credit_j") > 0),
        "counter_jump": pl.col("jump_ns") > 0,
        "counter_disagrees": pl.col("is_contradicted"),
        "stale_sensor": pl.col("is_stale"),
        "sentinel": pl.col("is_blank"),
        "above_limit": pl.col("is_above"),
        "zone_assumed": pl.col("is_assumed_zone"),
        "file_time": pl.col("is_file_time"),
        "resampled": pl.col("is_resampled"),
        "host_assumed": pl.col("is_assumed"),
        "module_level": pl.col("is_module"),
        "shared": pl.col("is_shared"),
    }
    told = [pl.when(holds).then(pl.lit(name)) for name, holds in reasons.items()]
    joined = pl.concat_str(told, separator=",", ignore_nulls=True)
    return pl.when(joined != "").then(joined)
