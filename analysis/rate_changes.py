"""Whether a failure rate changed: each week, the later half, before and after a day."""

from datetime import UTC, datetime
from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._rate_clock import clock
from analysis._rate_series import INPUTS, Series, series
from analysis._rate_tests import counted, judged, tested
from analysis._rate_windows import exposed, halves, since, weeks
from ingest.errors import SettingError
from ingest.tables import Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Share of false names among the changes that are named: many weeks and causes are
#: tested, and one in twenty of all would seem to have changed without it.
CHANGE_Q: Final = 0.05

#: Day of a change that an owner asks about, as YYYYMMDD in UTC; 0: none.
CHANGE_DAY: Final = 0.0


class RateChanges(Table):
    """One row per cluster or run, cause and period that is held against the rest."""

    key: ClassVar = (
        "cluster",
        "run_id",
        "level",
        "scope",
        "scope_id",
        "category",
        "comparison",
        "part",
    )

    cluster = c.identifier("Cluster.")
    run_id = c.identifier("Run; null for a cluster as a whole.", nullable=True)
    level = c.choice("What is counted.", ("incident", "interruption"))
    scope = c.choice("Where it is counted.", ("cluster", "run"))
    scope_id = c.identifier("Which one.")
    category = c.identifier("Category of the cause; `all` for the sum.")
    comparison = c.choice(
        "What is compared: a week with all others, the half of the time observed that"
        " comes later with the earlier one, or what comes after a date with before.",
        ("week", "half", "date"),
    )
    part = c.identifier("The week, half or day.")
    change_ns = c.time_ns("Start of the period.")
    until_ns = c.time_ns("End of the period.")
    exposure_basis = c.choice(
        "What time the rates are of: that of nodes, else the run's own.",
        ("node_time", "own_time"),
    )
    before_count = c.count("How many outside the period.")
    before_time_ns = c.gpu_time_ns("Time observed outside it.")
    after_count = c.count("How many in the period.")
    after_time_ns = c.gpu_time_ns("Time observed in it.")
    rate_ratio = c.ratio("Rate in the period over that outside.", nullable=True)
    low_rate_ratio = c.ratio("Lower end of its exact 95 % interval.", nullable=True)
    high_rate_ratio = c.ratio("Upper end; null where unbounded.", nullable=True)
    p_value = c.real(
        "Probability of so large a difference where nothing changed; null below 5"
        " events.",
        nullable=True,
    )
    q_value = c.real(
        "The same after Benjamini and Hochberg, over all weeks and halves, or over all"
        " causes of a date.",
        nullable=True,
    )
    verdict = c.choice(
        "What is found.", ("rose", "fell", "not_told_apart", "not_testable")
    )


def find_changes(frames: Frames, thresholds: Thresholds) -> Results:
    """Hold each week, the later half and a day that was set against the rest."""
    found = series(frames)
    spans, based = _weighted(found)
    clocks = clock(spans, "weight")
    windows = [weeks(found), halves(found, clocks)]
    day = change_instant(thresholds["change_day"])
    if day is not None:
        windows.append(since(found, day))
    return {
        RateChanges: _compared(found, clocks, windows, based, thresholds["change_q"])
    }


def compare_at(frames: Frames, change_ns: int, q: float = CHANGE_Q) -> pl.DataFrame:
    """Compare all rates before and after an instant of your choice.

    Args:
        frames: Attempts, GPUs, runs, incidents, their events and interruptions.
        change_ns: When something changed: a driver, a firmware, an image. [ns]
        q: Share of false names among the changes that are named. [1]

    Returns:
        Rows of RateChanges, a row for each cluster and run, level and cause.
    """
    found = series(frames)
    spans, based = _weighted(found)
    clocks = clock(spans, "weight")
    return _compared(found, clocks, [since(found, change_ns)], based, q)


def change_instant(day: float) -> int | None:
    """Return the start of a day that is written YYYYMMDD, None for 0. [ns]

    Raises:
        SettingError: If it is no day.
    """
    if not day:
        return None
    try:
        start = datetime.strptime(f"{day:.0f}", "%Y%m%d").replace(tzinfo=UTC)
    except ValueError as error:
        message = (
            f"thresholds.change_day: {day:.0f} is no day; write it as 20261201, in UTC"
        )
        raise SettingError(message) from error
    return int(start.timestamp()) * SECOND_NS


def _weighted(found: Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return spans with the weight that their series can have, and which it is."""
    is_known = pl.col("nodes").is_not_null()
    spans = found.spans.with_columns(weight=pl.coalesce("nodes", "own"))
    basis = pl.when(is_known.all()).then(pl.lit("node_time"))
    based = spans.group_by("series").agg(
        exposure_basis=basis.otherwise(pl.lit("own_time"))
    )
    return spans.drop_nulls("weight"), based


def _compared(
    found: Series,
    clocks: pl.DataFrame,
    windows: list[pl.DataFrame],
    based: pl.DataFrame,
    q: float,
) -> pl.DataFrame:
    """Return rows of RateChanges."""
    timed = exposed(pl.concat(windows), clocks).filter(
        (pl.col("after_time_ns") > 0) & (pl.col("before_time_ns") > 0)
    )
    named = timed.join(found.names, on="series").join(based, on="series")
    rows = [tested(row) for row in counted(named, found).iter_rows(named=True)]
    schema = RateChanges.create_empty().schema
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(RateChanges.key)
    return judged(frame, q)


ANALYSIS: Final = Analysis(
    name="rate_changes",
    version=1,
    describes="Whether a failure rate changed, by cause.",
    inputs=INPUTS,
    outputs=(RateChanges,),
    compute=find_changes,
    thresholds={"change_q": CHANGE_Q, "change_day": CHANGE_DAY},
)
