"""Samples of series of JSON documents, each as text until it is a column."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec
import polars as pl

from ingest.sources._prometheus.documents import Found
from ingest.sources._prometheus.labels import NAME
from ingest.sources._prometheus.lines import NO_NUMBER, NO_TIME
from ingest.sources._prometheus.registry import SCHEMA, Known, Registry
from ingest.sources._prometheus.sift import NAMELESS
from ingest.sources._prometheus.stamps import stamp_ns
from ingest.times import SECOND_NS

_SAMPLE: Final = r'^[\s\[]*"?([^",\s\[\]]+)"?\s*,\s*"?([^",\s\[\]]+)"?[\s\]]*$'

#: Rule of a series of two lists that differ in length.
_LENGTHS: Final = "cell_count"


@dataclass(slots=True)
class Lot:
    """Series that are turned into columns together.

    Attributes:
        series: What is known of each.
        labels: What each is called, for messages.
        samples: Samples of all, as text.
        owners: Number of the series of each sample, from one in the document.
        instants: Numbers of the series that are of one instant.
    """

    series: dict[int, Known] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    instants: set[int] = field(default_factory=set)

    def add(self, number: int, found: Found, registry: Registry) -> None:
        """Add a series that was decoded.

        Its samples are added where it is stored, or where it breaks a rule.
        """
        known = registry.of_labels(found.metric)
        if not found.metric.get(NAME):
            known = Known(rule=NAMELESS)
        texts = list(_texts(found))
        if texts and not texts[-1]:
            texts, known = [""], Known(rule=_LENGTHS)
        if known.rule:
            texts = texts[:1]
        self.series[number] = known
        self.labels[number] = msgspec.json.encode(found.metric).decode()
        self.samples += texts
        self.owners += [number] * len(texts)
        if bytes(found.value):
            self.instants.add(number)

    def frame(self) -> pl.DataFrame:
        """Return the samples as `sift` takes them."""
        texts = self._texts()
        parts = texts["line"].str.extract_groups(_SAMPLE).struct.unnest()
        stamps, values = parts.get_columns()
        numbers = values.replace("null", "NaN")
        read = texts.with_columns(
            series=pl.col("number").cast(pl.String),
            value=numbers.cast(pl.Float64, strict=False),
            whole=numbers.cast(pl.Int64, strict=False),
            time_ns=stamp_ns(stamps),
        )
        no_number, no_time = pl.col("value").is_null(), pl.col("time_ns").is_null()
        return read.with_columns(
            rule=pl.coalesce(
                "rule",
                pl.when(no_number).then(pl.lit(NO_NUMBER)),
                pl.when(no_time).then(pl.lit(NO_TIME)),
            ),
            line=pl.when(pl.col("rule").is_null()).then("line").otherwise("_labels"),
            quality=self._quality(),
        )

    def _texts(self) -> pl.DataFrame:
        """Return every sample as text, with what is known of its series."""
        owners = pl.DataFrame(
            {"number": list(self.series), "_labels": list(self.labels.values())},
            schema={"number": pl.Int64, "_labels": pl.String},
        ).hstack(pl.DataFrame(list(self.series.values()), schema=SCHEMA, orient="row"))
        texts = pl.DataFrame(
            {"number": self.owners, "line": self.samples},
            schema={"number": pl.Int64, "line": pl.String},
        )
        return texts.join(owners, on="number", how="left", maintain_order="left")

    def _quality(self) -> pl.Expr:
        """Return whether the time of a sample is its own, or that of a query.

        An instant query gives the time at which it was asked, and a range query that
        of its steps: evenly spaced whole seconds, which no two scrapes in a row have.
        """
        step = pl.col("time_ns").diff().abs().over("number")
        is_even = (step % step.min().over("number") == 0).fill_null(value=True)
        is_grid = is_even & (pl.col("time_ns") % SECOND_NS == 0)
        is_range = is_grid.all().over("number") & (pl.len().over("number") > 1)
        is_asked = pl.col("number").is_in(list(self.instants)) | is_range
        return pl.when(is_asked).then(pl.lit("resampled")).otherwise(pl.lit("exact"))


def _texts(found: Found) -> Iterator[str]:
    """Yield the samples of a series; an empty text where its lists do not pair."""
    if value := _text(found.value):
        yield value
        return
    stamps = _text(found.timestamps)
    values = _items(_text(found.values), "," if stamps else "]")
    if not stamps:
        yield from values
        return
    times = _items(stamps, ",")
    yield from map(",".join, zip(times, values, strict=False))
    if len(times) != len(values):
        yield ""


def _items(text: str, end: str) -> list[str]:
    """Cut a list into the texts of its items; what is no list is one item."""
    if not text.startswith("["):
        return [text] if text else []
    items = (item.strip(", \t\r\n") for item in text[1:-1].split(end))
    return [item for item in items if item]


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8", errors="replace").strip()
