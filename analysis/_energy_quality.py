"""What is to be doubted about a measured energy."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Sampling of power above which bursts between samples are missed: at 5 s energy is
#: wrong by 3 %, at 10 s by 9 %, at 15 s by up to 18 %, in either direction. [ns]
SLOW_SCRAPE_NS: Final = 5 * SECOND_NS

#: What each reason is said to mean, by its name.
MEANINGS: Final = {
    "no_samples": "nothing was sampled",
    "single_sample": "one sample, from which no energy follows",
    "unbracketed": "samples begin after the window or end before it",
    "gap": "no samples for longer than may be bridged",
    "slow_scrape": "sampled less often than every 5 s: bursts between are missed",
    "refresh_slower_than_window": "the window is shorter than the sensor's refresh",
    "counter_reset": "the energy counter began anew: a lower bound",
    "counter_jump": "the energy counter moved further than power can explain",
    "counter_disagrees": "the energy counter and sampled power differ by over 5 %",
    "sources_disagree": "files of one GPU differ by over 5 %: one of them counts",
    "stale_sensor": "the reading stood still while the GPU did not",
    "sentinel": "readings were blank",
    "above_limit": "readings beyond what the board can draw were left out",
    "duplicate_series_collapsed": "several series repeated one board: counted once",
    "zone_assumed": "no time zone was declared: UTC is assumed",
    "clock_skew": "the clock of the node is off by over a second",
    "file_time": "the time is that at which the file was written",
    "resampled": "the times are those of a query",
    "host_assumed": "the node is not told: the only one known",
    "module_level": "measured at the module, which is more than the board",
    "level_mixed": "other GPUs of the run were measured at another level",
    "shared": "another run held it at the same time",
    "partial_gpus": "not every GPU of the run was measured",
}


def reasons() -> pl.Expr:
    """Return the reasons for doubt, separated by commas; null where there are none."""
    is_sampled = pl.col("method").str.starts_with("trapezoid")
    reasons = {
        "no_samples": ~pl.col("is_fit") & (pl.col("samples_count") == 0),
        "single_sample": pl.col("reads") == 1,
        "unbracketed": ~pl.col("is_bracketed"),
        "gap": pl.col("gap_ns") > 0,
        "slow_scrape": is_sampled & (pl.col("interval_ns") > SLOW_SCRAPE_NS),
        "refresh_slower_than_window": pl.col("length_ns") < pl.col("refresh_ns"),
        "counter_reset": (pl.col("reset_ns") > 0) | (pl.col("credit_j") > 0),
        "counter_jump": pl.col("jump_ns") > 0,
        "counter_disagrees": pl.col("is_contradicted"),
        "sources_disagree": pl.col("is_disagreeing"),
        "stale_sensor": pl.col("is_stale"),
        "sentinel": pl.col("is_blank"),
        "above_limit": pl.col("is_above"),
        "duplicate_series_collapsed": pl.col("is_repeated"),
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
