"""How long it goes well between failures, and whether they come at a constant rate."""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._rate_clock import clock, read
from analysis._rate_series import INPUTS, Series, series
from analysis._rate_totals import PLACE
from analysis.gap_models import survival, weibull
from analysis.gap_tests import exponential_p, trend_p
from analysis.interrupt_rates import FEW_EVENTS
from ingest.tables import Table
from ingest.tables import _columns as c

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Probability below which gaps are said not to be exponential, or to have a trend. It
#: is the share of constant rates that are called otherwise.
GAP_P: Final = 0.05

_PLACE_KEY: Final = ("cluster", "run_id", "level", "scope", "scope_id")

_METHOD: Final = (
    "Kaplan-Meier with Greenwood's interval on the log-log scale; Weibull by maximum"
    " likelihood; Greenwood's statistic of spacings by 2,000 seeded samples; Laplace's"
    " test of trend"
)


class InterruptionGaps(Table):
    """One row per cluster or run, level and step of its survival curve."""

    key: ClassVar = (*_PLACE_KEY, "gap_ns")

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Run; null for a cluster as a whole.", nullable=True)
    level = c.choice("What ends a gap.", ("incident", "interruption"))
    scope = c.choice("Where it is counted.", ("cluster", "run"))
    scope_id = c.identifier("Which one.")
    gap_ns = c.gpu_time_ns(
        "Time observed since the one before: of a run its own, of a cluster that of"
        " its nodes together."
    )
    at_risk_count = c.count("Gaps that lasted so long.")
    ended_count = c.count("Gaps that ended then.")
    survival_ratio = c.ratio("Share of gaps that last longer (Kaplan and Meier).")
    low_survival_ratio = c.ratio(
        "Lower end of its 95 % interval (Greenwood, log-log).", nullable=True
    )
    high_survival_ratio = c.ratio("Upper end.", nullable=True)
    exponential_ratio = c.ratio("The same share at a constant rate: exp(-gap / MTBF).")


class InterruptionGapFits(Table):
    """One row per cluster or run and level: what its gaps are like."""

    key: ClassVar = _PLACE_KEY

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Run; null for a cluster as a whole.", nullable=True)
    level = c.choice("What ends a gap.", ("incident", "interruption"))
    scope = c.choice("Where it is counted.", ("cluster", "run"))
    scope_id = c.identifier("Which one.")
    gap_count = c.count("Gaps that ended.")
    zero_gap_count = c.count("Gaps of no length, which no Weibull has: not in the fit.")
    censored_ns = c.gpu_time_ns("Time since the last one, which nothing has ended.")
    mean_ns = c.gpu_time_ns("Time observed over the number of gaps.")
    weibull_shape = c.real(
        "Shape of the Weibull distribution; below 1 the hazard falls. Null below 5.",
        nullable=True,
    )
    weibull_shape_low = c.real("Lower end of its 95 % interval.", nullable=True)
    weibull_shape_high = c.real("Upper end.", nullable=True)
    weibull_scale_ns = c.gpu_time_ns("Scale of it.", nullable=True)
    exponential_p_value = c.real(
        "Probability of such gaps at a constant rate; null below 5.", nullable=True
    )
    trend_p_value = c.real(
        "Probability of such a trend at a constant rate; null below 5.", nullable=True
    )
    verdict = c.choice(
        "What is found.",
        ("exponential_holds", "clustered", "regular", "not_testable"),
    )
    has_trend = c.flag("Whether a trend is found.", nullable=True)
    method = c.text("How the numbers are made.")


def measure_gaps(frames: Frames, thresholds: Thresholds) -> Results:
    """Lay the gaps of each cluster and run beside those of a constant rate."""
    found = series(frames)
    curves: list[dict[str, Any]] = []
    fits: list[dict[str, Any]] = []
    for place, instants, observed in _passed(found):
        gaps = np.diff(np.concatenate([[0.0], instants]))
        curves += [place | row for row in _curve(gaps, observed)]
        fits.append(place | _fit(gaps, observed, thresholds["gap_p"]))
    return {
        InterruptionGaps: _table(InterruptionGaps, curves),
        InterruptionGapFits: _table(InterruptionGapFits, fits),
    }


def _passed(
    found: Series,
) -> "Iterator[tuple[dict[str, Any], NDArray[np.float64], float]]":
    """Yield each series with the time observed before each thing, and in all. [ns]"""
    spans = found.spans.drop_nulls("own")
    whole = spans.select("series").unique()
    clocks = clock(spans, "own")
    totals = clocks.group_by("series").agg(observed=pl.col("passed_ns").max())
    things = found.things.join(whole, on="series", how="semi")
    timed = read(clocks, things, "time_ns").sort("series", "passed_ns")
    grouped = timed.group_by("series", maintain_order=True).agg("passed_ns")
    named = grouped.join(found.names, on="series").join(totals, on="series")
    for row in named.sort("series").iter_rows(named=True):
        place = {name: row[name] for name in (*PLACE, "level")}
        instants = np.array([float(at) for at in row["passed_ns"]])
        yield place, instants, float(row["observed"])


def _curve(gaps: "NDArray[np.float64]", observed: float) -> Iterator[dict[str, Any]]:
    """Yield the columns of InterruptionGaps that a curve tells."""
    rest = observed - gaps.sum()
    found = survival(gaps, np.array([rest]) if rest > 0 else np.array([]))
    exponential = np.exp(-found.times * gaps.size / observed)
    for row in zip(*found, exponential, strict=True):
        gap, at_risk, ended, share, low, high, constant = map(float, row)
        yield {
            "gap_ns": Decimal(round(gap)),
            "at_risk_count": int(at_risk),
            "ended_count": int(ended),
            "survival_ratio": share,
            "low_survival_ratio": None if np.isnan(low) else low,
            "high_survival_ratio": None if np.isnan(high) else high,
            "exponential_ratio": constant,
        }


def _fit(
    gaps: "NDArray[np.float64]", observed: float, least_p: float
) -> dict[str, Any]:
    """Return the columns of InterruptionGapFits that gaps tell."""
    rest = max(0.0, observed - float(gaps.sum()))
    told: dict[str, Any] = {
        "gap_count": gaps.size,
        "zero_gap_count": int((gaps == 0).sum()),
        "censored_ns": Decimal(round(rest)),
        "mean_ns": Decimal(round(observed / gaps.size)),
        "verdict": "not_testable",
        "method": _METHOD,
    }
    censored = np.array([rest]) if rest > 0 else np.array([])
    shape = weibull(gaps, censored) if gaps.size >= FEW_EVENTS else None
    if shape is None:
        return told
    p_value = exponential_p(np.concatenate([gaps, censored]))
    trend = trend_p(np.cumsum(gaps), observed)
    bent = "clustered" if shape.shape < 1 else "regular"
    return told | {
        "weibull_shape": shape.shape,
        "weibull_shape_low": shape.low,
        "weibull_shape_high": shape.high,
        "weibull_scale_ns": Decimal(round(shape.scale)),
        "exponential_p_value": p_value,
        "trend_p_value": trend,
        "verdict": bent if p_value < least_p else "exponential_holds",
        "has_trend": trend < least_p,
    }


def _table(table: type[Table], rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = table.create_empty().schema
    return pl.DataFrame(rows, schema=schema, orient="row").sort(table.key)


ANALYSIS: Final = Analysis(
    name="interruption_gaps",
    version=1,
    describes="How long it goes well between failures, beside a constant rate.",
    inputs=INPUTS,
    outputs=(InterruptionGaps, InterruptionGapFits),
    compute=measure_gaps,
    thresholds={"gap_p": GAP_P},
)
