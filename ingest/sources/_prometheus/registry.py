"""Series that were met, each looked at once."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import polars as pl

from ingest.sources._prometheus.fields import metric_of
from ingest.sources._prometheus.hosts import UNAME, Hosts, Thing
from ingest.sources._prometheus.labels import (
    NAME,
    BrokenSeriesError,
    labels_of,
    metric_name,
)
from ingest.sources._prometheus.series import series_of

#: Series that are remembered: 40 metrics of 2,500 GPUs.
KNOWN_SERIES: Final = 100_000


class Known(NamedTuple):
    """What is known of a series; all but `rule` are null where it is not stored.

    Attributes:
        field: Position of its field.
        metric: Name of its metric.
        thing: Its device and where that is, as one text.
        rule: Rule that it breaks.
    """

    field: int | None = None
    metric: str | None = None
    thing: str | None = None
    rule: str | None = None


#: Columns of what is known of series.
SCHEMA: Final = {
    "field": pl.Int16,
    "metric": pl.String,
    "thing": pl.String,
    "rule": pl.String,
}

_NOT_STORED: Final = Known()


class Registry:
    """Remembers what each series stands for, and tells hosts of `node_uname_info`."""

    def __init__(self, hosts: Hosts) -> None:
        """Start with no series."""
        self._hosts = hosts
        self._known: dict[str, Known] = {}

    def table(self, texts: Iterable[str]) -> pl.DataFrame:
        """Return what is known of series: `series` and the columns of SCHEMA."""
        kept = list(texts)
        known = [self._of(text) for text in kept]
        frame = pl.DataFrame(known, schema=SCHEMA, orient="row")
        return frame.insert_column(0, pl.Series("series", kept, dtype=pl.String))

    def _of(self, text: str) -> Known:
        known = self._known.get(text)
        if known is None:
            known = self._look_at(text)
            if len(self._known) >= KNOWN_SERIES:
                self._known.clear()
            self._known[text] = known
        return known

    def _look_at(self, text: str) -> Known:
        name = metric_name(text)
        if name and name != UNAME and metric_of(name) is None:
            return _NOT_STORED
        try:
            return self.of_labels(labels_of(text))
        except BrokenSeriesError as error:
            return Known(rule=str(error))

    def of_labels(self, labels: Mapping[str, str]) -> Known:
        """Return what labels stand for, the name of the metric among them."""
        if labels.get(NAME) == UNAME:
            self._hosts.learn(labels)
            return _NOT_STORED
        try:
            series = series_of(labels)
        except BrokenSeriesError as error:
            return Known(rule=str(error))
        if series is None:
            return _NOT_STORED
        thing = Thing(series.host, series.instance, series.device)
        return Known(series.field, series.metric, thing.text())
