"""Which GPU of the host map each rank of an attempt had."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._host_names import host_names, spelled_alike

#: Columns of the host map that say where a GPU is.
PLACE: Final = (
    "host",
    "local_rank",
    "gpu_uuid",
    "pci_address",
    "nic",
    "rail",
    "switch",
    "rack",
    "pod",
)

#: What tells a spare from another.
_NAMED: Final = ("host", "local_rank", "gpu_uuid")

_ATTEMPT: Final = ("run_id", "attempt")


@dataclass(frozen=True, slots=True)
class HostMaps:
    """The GPUs of host maps, once for each run, with nodes spelled as jobs do.

    Attributes:
        gpus: Columns run_id, rank (null: a spare), PLACE, `seat`, which counts GPUs in
            the order of these columns, spares first, `node`, which counts nodes, and
            whatever else is known of a GPU.
        names: One name for each spelling of a node: what `host_names` returns.
    """

    gpus: pl.LazyFrame
    names: pl.LazyFrame

    def of_attempts(self, attempts: pl.LazyFrame) -> pl.LazyFrame:
        """Return what the maps know of the GPUs of some attempts.

        A map knows nothing of restarts. Where the job's nodes are known, a rank whose
        node is not among them has moved: it keeps its row, without a place. A spare on
        such a node was not held and has no row. A map none of whose nodes is among
        them names nodes in another way, and is believed.

        Args:
            attempts: Columns run_id, attempt, hosts and whatever else.

        Returns:
            Rows of `gpus` without `seat` and `node` for each attempt, with its columns
            but `hosts`; those of an attempt in the order of `gpus`.
        """
        told = attempts.select("run_id", "hosts").unique().with_row_index("list")
        lists = told.collect().lazy()
        there = pl.col("is_there")
        known = (
            self.gpus.join(lists.select("run_id", "list"), on="run_id")
            .join(self._there(lists), on=["list", "node"])
            .filter(there | pl.col("rank").is_not_null())
            .with_columns(pl.when(there).then(pl.col(PLACE)).name.keep())
            .sort("list", "seat")
            .drop("run_id", "seat", "node", "is_there")
        )
        numbered = attempts.join(lists, on=["run_id", "hosts"], nulls_equal=True)
        return (
            numbered.drop("hosts")
            .sort(_ATTEMPT)
            .join(known, on="list", maintain_order="left_right")
            .drop("list")
        )

    def _there(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Tell of each list and node of a map whether its GPUs were there."""
        held = _respelled(_nodes(lists.select("run_id", "list", "hosts")), self.names)
        nodes = self.gpus.select("run_id", "host", "node").unique()
        marked = held.select("list", "host").unique()
        checked = nodes.join(lists.select("run_id", "list"), on="run_id").join(
            marked.with_columns(is_held=pl.lit(value=True)),
            on=["list", "host"],
            how="left",
        )
        is_held = pl.col("is_held").fill_null(value=False)
        is_there = is_held | ~is_held.any().over("list")
        return checked.select("list", "node", is_there=is_there)


def read_maps(host_map: pl.LazyFrame, attempts: pl.LazyFrame) -> HostMaps:
    """Read host maps, for all attempts of their runs.

    Args:
        host_map: Rows of HostMap.
        attempts: Rows of Attempts.
    """
    lists = attempts.select("run_id", "hosts").unique()
    listed = _nodes(lists)
    told = [one.select("host", cluster="run_id") for one in (listed, host_map)]
    names = host_names(told).collect().lazy()
    once = _respelled(host_map, names).sort("run_id", "rank", *PLACE)
    ranks = once.filter(pl.col("rank").is_not_null()).unique(
        ["run_id", "rank"], keep="first", maintain_order=True
    )
    spares = once.filter(pl.col("rank").is_null()).unique(
        ["run_id", *_NAMED], keep="first", maintain_order=True
    )
    rows = pl.concat([spares, ranks]).with_row_index("seat").collect().lazy()
    place = ["run_id", "host"]
    nodes = rows.select(place).unique().sort(place).with_row_index("node")
    gpus = rows.join(nodes, on=place, nulls_equal=True).sort("seat")
    return HostMaps(gpus.collect().lazy(), names)


def mapped_gpus(host_map: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of the host map for each attempt of its run; see `HostMaps`."""
    held = attempts.select(*_ATTEMPT, "hosts")
    return read_maps(host_map, attempts).of_attempts(held)


def _respelled(rows: pl.LazyFrame, names: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of runs with one name for each node of a run."""
    placed = rows.with_columns(cluster="run_id")
    return spelled_alike(placed, names).drop("cluster")


def _nodes(lists: pl.LazyFrame) -> pl.LazyFrame:
    """Return the nodes that the jobs of attempts list, each once for each list."""
    nodes = lists.with_columns(host=pl.col("hosts").str.split(",")).explode("host")
    named = nodes.with_columns(pl.col("host").str.strip_chars()).drop("hosts").unique()
    return named.filter(pl.col("host") != "")
