"""All that was sampled, and what is known of its hosts: what tells devices apart."""

from dataclasses import dataclass
from typing import Final, Self

import polars as pl

from analysis._energy_names import OF_FILE, names_of, of_cluster
from analysis._host_names import HOST, spelled_alike

#: How a device is named that is known by its place in its node alone.
_OF_NODE: Final = r"^(?:pci|index):"


@dataclass(frozen=True, slots=True)
class Fleet:
    """What must be known of all devices to say who held one of them.

    Attributes:
        devices: Rows of `devices_of`.
        names: `cluster`, `host` and `name`, as `host_names` gives them.
        sole_host: Host of all that was held, where it is one alone.
    """

    devices: pl.DataFrame
    names: pl.DataFrame
    sole_host: str | None

    @classmethod
    def of(
        cls, allocations: pl.DataFrame, gpus: pl.DataFrame, devices: pl.DataFrame
    ) -> Self:
        """Find out what is known of the hosts of devices.

        Args:
            allocations: `cluster` and `host` of all that was held.
            gpus: `cluster` and `host` of all rows of Gpus.
            devices: Rows of `devices_of`.
        """
        names = names_of(gpus, devices).collect()
        held = of_cluster(allocations.select(HOST).unique(), devices)
        told = spelled_alike(held.lazy(), names.lazy()).select("host").collect()
        hosts = told["host"].drop_nulls().unique()
        return cls(devices, names, hosts[0] if hosts.len() == 1 else None)

    def near(self, some: pl.DataFrame) -> pl.Expr:
        """Return which rows of Allocations and Gpus may tell who held some devices.

        Args:
            some: Rows of `devices`.
        """
        name = pl.col("gpu_uuid").str.replace(OF_FILE, "")
        told = some.select(_name=name, host="host")
        of_node = told.filter(pl.col("_name").str.contains(_OF_NODE))
        placed = of_node.select(
            pl.col("host").fill_null(pl.lit(self.sole_host, pl.String))
        )["host"]
        is_named = pl.col("gpu_uuid").is_in(told["_name"].unique().implode())
        return is_named | self._at(placed)

    def near_nodes(self, some: pl.DataFrame) -> pl.Expr:
        """Return which rows of Allocations may tell who held some nodes.

        Args:
            some: Rows of `devices`.
        """
        return self._at(some["host"])

    def _at(self, hosts: pl.Series) -> pl.Expr:
        """Return which rows are of hosts, however they spell them."""
        of_hosts = self.names.filter(pl.col("name").is_in(hosts.unique().implode()))
        spelled = pl.concat([of_hosts["host"], hosts.drop_nulls()]).unique()
        return pl.col("host").is_in(spelled.implode())
