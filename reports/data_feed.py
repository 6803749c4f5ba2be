"""Whether every sample was given once, and what input took of the steps."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.data_feed import DataFeed, DataFeedViolations
from analysis.data_feed_steps import DataFeedSteps
from reports import _feed_charts, _feed_heading, _feed_listing, _feed_words
from reports._runs import of_runs
from reports._section import Content, Scope, Section

_EMPTY: Final = (
    "A log of what the loader gave to each rank tells: CSV, JSON lines or Parquet with"
    " step, rank and sample_from, sample_to (or batch_hash), as"
    " sample_traces/formats/data-reads shows."
)


def build(frames: Frames, scope: Scope) -> Content:
    """Return what went wrong with the feeds, and what they took."""
    feeds = scope.of_runs(frames[DataFeed]).sort("run_id").collect()
    faults = scope.of_runs(frames[DataFeedViolations]).collect()
    faults = faults.sort(DataFeedViolations.key)
    read = feeds.filter(pl.col("ranks").is_not_null())
    if read.is_empty():
        return _unread(feeds, frames, scope)
    steps = _steps(frames, scope, read)
    return Content(
        heading=_feed_heading.heading(read, faults, of_runs(read["run_id"], scope)),
        paragraphs=_feed_words.paragraphs(read, faults, scope),
        charts=_feed_charts.charts(faults, steps, scope),
        listings=_feed_listing.listings(faults, scope),
    )


def _unread(feeds: pl.DataFrame, frames: Frames, scope: Scope) -> Content:
    """Say what step logs alone tell: how long steps were blocked on their input."""
    heading = "What the loader gave to the ranks is not known."
    if feeds.is_empty():
        return Content(heading=heading, empty=_EMPTY)
    none = DataFeedViolations.create_empty()
    steps = _steps(frames, scope, feeds)
    return Content(
        heading=heading,
        paragraphs=[*_feed_words.paragraphs(feeds, none, scope), _EMPTY],
        charts=_feed_charts.charts(none, steps, scope),
    )


def _steps(frames: Frames, scope: Scope, feeds: pl.DataFrame) -> pl.DataFrame:
    rows = scope.of_runs(frames[DataFeedSteps])
    among = feeds.select("run_id").lazy()
    found = rows.join(among, on="run_id", how="semi")
    return found.sort(DataFeedSteps.key).collect()


SECTION: Final = Section(
    "data_feed", "Data feed", (DataFeed, DataFeedSteps, DataFeedViolations), build
)
