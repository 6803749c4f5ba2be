"""Which method tells the energy of a window: the best that measured enough."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Column that each method reads, the best method first. The mean over a second keeps
#: energy that samples of the moment miss between them.
METHODS: Final = {
    "counter": "energy_mj",
    "trapezoid_average": "power_average_w",
    "trapezoid_instant": "power_instant_w",
}

#: A better method is taken if it measured this share of what another did: less, and
#: more is lost by not measuring than a worse sensor is wrong by (some percent).
ENOUGH_RATIO: Final = 0.95

#: Difference of the counter's mean and that of sampled power that is told: where both
#: are sound they agree within 1 % (ml-energy/zeus, issue 12).
DISAGREE_RATIO: Final = 0.05

#: Difference that is never told: readings of a board are good to 5 W. [W]
DISAGREE_W: Final = 5.0

#: Slowest sampling of power that a counter is held against so closely: at 5 s bursts
#: are wrong by 3 %, at 15 s by 18 %. [ns]
SOUND_SAMPLING_NS: Final = SECOND_NS

#: Difference of the two that slow sampling does not explain, [1]
FAR_RATIO: Final = 0.5

#: from so many samples on. [1]
FAR_SAMPLES: Final = 10

#: A counter that did not rise in so long a window is dead: boards always draw some
#: watts, and the counter is refreshed ten times a second. [ns]
DEAD_NS: Final = 30 * SECOND_NS

_KEY: Final = ("device", "window")

_IS_COUNTER: Final = pl.col("method") == "counter"


def choose(every: pl.DataFrame) -> pl.DataFrame:
    """Keep the best method that measured enough, and hold the counter against power.

    Args:
        every: A row for each device, window and method.

    Returns:
        A row for each device and window, with `is_fit`, `mean_w` and
        `is_contradicted`.
    """
    living = _without_dead(every)
    most = pl.col("measured_ns").max().over(_KEY)
    some = (pl.col("measured_ns") > 0) | (pl.col("credit_j") > 0)
    is_fit = some & (pl.col("measured_ns") >= ENOUGH_RATIO * most)
    ranked = living.with_columns(is_fit=is_fit)
    place = pl.when("is_fit").then("order").otherwise(-pl.col("samples_count"))
    best = _held_against(ranked).sort(
        "device", "window", ~pl.col("is_fit"), place, "order"
    )
    return best.unique(_KEY, keep="first", maintain_order=True)


def _without_dead(every: pl.DataFrame) -> pl.DataFrame:
    """Take the time of counters that never rise from what was measured."""
    is_timed = pl.col("measured_ns") > 0
    mean = pl.col("energy_j") * SECOND_NS / pl.col("measured_ns")
    timed = every.with_columns(mean_w=pl.when(is_timed).then(mean))
    power = pl.col("mean_w").filter(~_IS_COUNTER).max().over(_KEY)
    is_flat = is_timed & (pl.col("energy_j") == 0) & (pl.col("credit_j") == 0)
    is_long = pl.col("measured_ns") >= DEAD_NS
    is_denied = (power > DISAGREE_W).fill_null(value=False)
    is_dead = _IS_COUNTER & is_flat & (is_long | is_denied)
    return timed.with_columns(
        measured_ns=pl.when(is_dead).then(0).otherwise("measured_ns"),
        mean_w=pl.when(~is_dead).then("mean_w"),
        is_stale=pl.col("is_stale").fill_null(value=False) | is_dead,
    )


def _held_against(ranked: pl.DataFrame) -> pl.DataFrame:
    """Say where the counter and sampled power differ by more than sampling explains."""
    is_power = pl.col("is_fit") & ~_IS_COUNTER
    is_sound = is_power & (pl.col("interval_ns") <= SOUND_SAMPLING_NS)
    is_slow = is_power & (pl.col("samples_count") >= FAR_SAMPLES)
    sampled = [
        pl.col("mean_w").filter(of).first().over(_KEY) for of in (is_sound, is_slow)
    ]
    apart = [(pl.col("mean_w") - power).abs() for power in sampled]
    allowed = pl.max_horizontal(DISAGREE_RATIO * pl.col("mean_w"), DISAGREE_W)
    most = pl.max_horizontal("mean_w", sampled[1])
    far = pl.max_horizontal(FAR_RATIO * most, DISAGREE_W)
    is_apart = (apart[0] > allowed).fill_null(value=False) | (apart[1] > far)
    return ranked.with_columns(is_contradicted=_IS_COUNTER & is_apart)
