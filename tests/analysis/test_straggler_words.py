"""Numbers in the evidence for causes, in words."""

import polars as pl
import pytest

from analysis._straggler_cause_limits import CAUSE_THRESHOLDS, CauseLimits
from analysis._straggler_rung import said_share, signed
from analysis.stragglers import ANALYSIS


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.834, "83.4 %"),
        (0.001, "0.1 %"),
        (0.0004, "none"),
        (0.0, "none"),
        (-0.016, "none"),
        (None, None),
    ],
)
def test_a_share_that_is_not_above_zero_is_none(
    share: float | None, said: str | None
) -> None:
    frame = pl.DataFrame({"share": [share]}, schema={"share": pl.Float64})
    assert frame.select(said_share(pl.col("share"))).item() == said


def test_a_negative_number_has_a_minus_sign() -> None:
    frame = pl.DataFrame({"value": [-0.25, 0.9]})
    told = frame.select(signed(pl.col("value"))).to_series().to_list()
    assert told == ["\N{MINUS SIGN}0.25", "0.9"]


def test_every_limit_of_the_ladder_may_be_set() -> None:
    assert CAUSE_THRESHOLDS.items() <= ANALYSIS.thresholds.items()
    assert CauseLimits.of(ANALYSIS.thresholds) == CauseLimits()
    changed = {name: value / 2 for name, value in CAUSE_THRESHOLDS.items()}
    halved = CauseLimits.of(changed)
    assert halved.low_clock_ratio == CauseLimits().low_clock_ratio / 2
    assert halved.pause_ns == CauseLimits().pause_ns / 2
