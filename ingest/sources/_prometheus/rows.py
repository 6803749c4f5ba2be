"""Rows of tables out of samples: one for each device and time."""

from typing import Final, NamedTuple

import polars as pl

from ingest.sources._prometheus.cells import cells_of, count_conflicts
from ingest.sources._prometheus.hosts import Hosts, Thing
from ingest.sources._prometheus.values import types_of
from ingest.sources._source import Reading, Refusal
from ingest.tables import LinkSamples, PowerSamples, Table

#: Time of samples without a time stamp, while they are gathered.
UNTIMED: Final = -1

#: What makes one row, beside the metric where each has rows of its own.
ROW: Final = ("at", "thing")

#: What would mend a row that names no host.
_NO_HOST: Final = (
    "no label names the host; keep node_uname_info, or name the file"
    " node-exporter-<host>.prom"
)

#: Whether a node is required, as it is for ports.
_ANY: Final = (False, True)

#: Column of the device, by table.
_DEVICE: Final = {PowerSamples: "gpu_uuid", LinkSamples: "port"}

#: Columns that instances and slices of a board repeat.
_REPEATED: Final = ("power_average_w", "power_instant_w", "energy_mj")


class Rows(NamedTuple):
    """Rows by table, rows that cannot be, and samples that differed from another."""

    frames: dict[type[Table], pl.DataFrame]
    refused: tuple[Refusal, ...]
    conflicts: int


class Maker:
    """Makes rows of samples.

    Whole-board values come once for each MIG instance, time slice and pod, so a device
    is its name, whatever else the labels say. Where such series differ they were read
    at slightly different moments, and the largest is kept: of a counter it is the
    latest.
    """

    def __init__(self, reading: Reading, hosts: Hosts, place: str) -> None:
        """Start.

        Args:
            reading: What is told of the file.
            hosts: Names of nodes.
            place: What a number of a sample counts: `line`.
        """
        self._reading = reading
        self._hosts = hosts
        self._place = place

    def rows(self, samples: pl.DataFrame, *, alone: bool) -> Rows:
        """Return the rows of samples.

        Args:
            samples: `number`, `at`, `thing`, `field`, `metric`, `quality`, `real` and
                `count`.
            alone: Whether each metric has rows of its own, which name it.
        """
        keys = [*ROW, "metric"] if alone else [*ROW]
        of_one = self._one_thing(samples)
        cells = cells_of(of_one, keys)
        conflicts = count_conflicts(of_one, cells, keys)
        frames: dict[type[Table], pl.DataFrame] = {}
        refused: tuple[Refusal, ...] = ()
        for table in (PowerSamples, LinkSamples):
            of_table = cells.filter(pl.col("table") == table.sql_name())
            if of_table.is_empty():
                continue
            wide = self._placed(_wide(of_table, table, keys), table)
            if table is LinkSamples:
                refused = _homeless(wide)
                wide = wide.filter(pl.col("host").is_not_null())
            if not wide.is_empty():
                frames[table] = self._told(wide, table)
        return Rows(frames, refused, conflicts)

    def _one_thing(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Give a device one name that exporters tell of in different words."""
        same: dict[tuple[str | None, ...], str] = {}
        other: dict[str, str] = {}
        for text in samples["thing"].unique(maintain_order=True):
            thing = Thing.of(text)
            nodes = (self._hosts.node(thing, is_required=is_link) for is_link in _ANY)
            kept = same.setdefault((*nodes, thing.device), text)
            if kept != text:
                other[text] = kept
        if not other:
            return samples
        return samples.with_columns(pl.col("thing").replace(other))

    def _placed(self, wide: pl.DataFrame, table: type[Table]) -> pl.DataFrame:
        """Add host and device."""
        texts = wide["thing"].unique()
        things = [Thing.of(text) for text in texts]
        is_link = table is LinkSamples
        names = pl.DataFrame(
            {
                "thing": texts,
                "host": [self._hosts.node(t, is_required=is_link) for t in things],
                _DEVICE[table]: [
                    t.device if is_link else self._hosts.gpu(t, self._reading)
                    for t in things
                ],
            },
            schema_overrides={"host": pl.String, _DEVICE[table]: pl.String},
        )
        number = pl.col("number").cast(pl.String)
        placed = wide.join(names, on="thing", how="left", maintain_order="left")
        return placed.with_columns(place=pl.lit(f"{self._place} ") + number)

    def _told(self, wide: pl.DataFrame, table: type[Table]) -> pl.DataFrame:
        is_untimed = pl.col("at") == UNTIMED
        time_ns = pl.when(is_untimed).then(self._reading.modified_ns).otherwise("at")
        is_power = table is PowerSamples
        copies = pl.when(pl.col("copies") > 0).then("copies").cast(pl.Int64)
        of_gpu = {"level": pl.lit("gpu_board"), PowerSamples.series_count.name: copies}
        return wide.with_columns(
            cluster=pl.lit(self._reading.cluster),
            time_ns=time_ns.cast(pl.Int64),
            time_quality=pl.when(is_untimed)
            .then(pl.lit("file_time"))
            .otherwise("quality"),
            **(of_gpu if is_power else {}),
        ).drop("at", "thing", "number", "quality", "copies")


def _wide(cells: pl.DataFrame, table: type[Table], keys: list[str]) -> pl.DataFrame:
    """Put the columns of a device and a time into one row, in the file's order."""
    present = cells.select("column", "field").unique()
    crowded = set(present.filter(pl.col("column").is_duplicated())["column"])
    if crowded:
        known = pl.when(
            pl.coalesce("real", pl.col("count").cast(pl.Float64)).is_not_null()
        )
        best = known.then("order").min().over(*keys, "column")
        cells = cells.filter((pl.col("order") == best).fill_null(value=True))
    found = set(present["column"])
    is_repeated = pl.col("column").is_in(_REPEATED)
    wide = cells.group_by(keys).agg(
        pl.col("number").min(),
        pl.col("quality").first(),
        pl.col("copies").filter(is_repeated).max().fill_null(0),
        *(
            _value(name, dtype, is_sum=name in crowded)
            for name, dtype in types_of(table).items()
            if name in found
        ),
    )
    missing = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in types_of(table).items()
        if name not in found
    ]
    metric = pl.col("metric") if "metric" in keys else pl.lit(None, pl.String)
    ordered = wide.sort("number", *keys)
    named = ordered.with_columns(*missing, series=metric)
    told = (*ROW, "number", "quality", "series", "copies")
    return named.select(*told, *types_of(table))


def _value(name: str, dtype: pl.DataType, *, is_sum: bool) -> pl.Expr:
    value = pl.col("real" if dtype.is_float() else "count")
    of_column = value.filter(pl.col("column") == name)
    if not is_sum:
        return of_column.max().alias(name)
    return pl.when(of_column.count() > 0).then(of_column.sum()).alias(name)


def _homeless(wide: pl.DataFrame) -> tuple[Refusal, ...]:
    nameless = wide.filter(pl.col("host").is_null())
    return tuple(
        Refusal(LinkSamples, place, "host|required", port, _NO_HOST)
        for place, port in nameless.select("place", "port").iter_rows()
    )
