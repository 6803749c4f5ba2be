"""Which run held which sampled device when, and when nobody did."""

from typing import Final

import polars as pl

from analysis._energy_fleet import Fleet
from analysis._energy_names import OF_FILE, is_global, of_cluster
from analysis._energy_places import places_held
from analysis._host_names import spelled_alike
from analysis.gpus import Gpus
from ingest.phrases import phrase

#: Identity of a device. The host may be unknown.
DEVICE: Final = ("cluster", "host", "gpu_uuid")

#: An address without the function and with four digits of domain, as sources that know
#: a device by it name it.
_ADDRESS: Final = r"([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-9a-f])?$"

#: Columns of a window; `window` is the run, null where nobody held the device.
_WINDOW: Final = ("device", "window", "from_ns", "to_ns", "is_shared", "is_assumed")


def held_windows(
    allocations: pl.DataFrame,
    gpus: pl.DataFrame,
    devices: pl.DataFrame,
    fleet: Fleet | None = None,
) -> pl.DataFrame:
    """Return when runs held the devices that were sampled.

    A GPU is known by its UUID, else by its PCI address or its position in its node. A
    device that is known by one of them although a better one is sampled, too, would
    count twice: its time is taken and its `window` does not count.

    Args:
        allocations: Rows of Allocations.
        gpus: Rows of Gpus, which tell positions and addresses.
        devices: Rows of `devices_of`.
        fleet: All that was sampled, where `devices` are some of it; then rows that are
            near none of these may lack.

    Returns:
        `device`, `window` (the run), `from_ns`, `to_ns`, `is_shared` (another run held
        the device at the same time), `is_assumed` (the samples name no host
        and runs know only one) and `counts`. Windows of a device share no time.
        Devices without a host that have one name at the same time are on several nodes,
        of which none is known: runs hold none of them.
    """
    places, spans = places_held(allocations, gpus)
    whole = fleet or Fleet.of(allocations, gpus, devices)
    told = spelled_alike(
        of_cluster(places, whole.devices).lazy(), whole.names.lazy()
    ).collect()
    names = [
        Gpus.gpu_uuid.col,
        phrase("pci:{}", Gpus.pci_address.col.str.to_lowercase().str.extract(_ADDRESS)),
        phrase("index:{}", "local_rank"),
    ]
    matched = pl.concat(
        _match(told.with_columns(_name=name), whole, tier)
        for tier, name in enumerate(names)
    )
    best = matched.with_columns(
        counts=pl.col("_tier") == pl.col("_tier").min().over("_w")
    )
    mine = best.join(devices.select("device"), on="device", how="semi")
    return disjoint(spans.join(mine, on="_w").drop("_w", "_tier"))


def _match(told: pl.DataFrame, fleet: Fleet, tier: int) -> pl.DataFrame:
    """Pair places with the devices of their name; a UUID needs no host."""
    named = fleet.devices.with_columns(
        _name=pl.col("gpu_uuid").str.replace(OF_FILE, "")
    )
    placed = named.sort("cluster", "_name", "first_ns").with_columns(
        _placed=pl.when(pl.col("host").is_not_null() | ~_is_twofold()).then(
            pl.col("host").fill_null(pl.lit(fleet.sole_host, pl.String))
        )
    )
    pairs = told.drop_nulls("_name").join(
        placed.select("device", "_placed", "_name", "host", "cluster"),
        on="_name",
        suffix="_seen",
    )
    same_host = pl.col("_placed") == pl.col("host")
    is_uuid = pl.lit(value=tier == 0)
    unknown = pl.col("_placed").is_null() | pl.col("host").is_null()
    same_cluster = (pl.col("cluster") == pl.col("cluster_seen")).fill_null(value=True)
    fits = (
        pl.when(is_uuid)
        .then(same_host | unknown | is_global("_name"))
        .otherwise(same_host & same_cluster)
    )
    return pairs.filter(fits).select(
        "_w",
        "device",
        is_assumed=pl.col("host_seen").is_null() & ~is_uuid,
        _tier=pl.lit(tier),
    )


def _is_twofold() -> pl.Expr:
    """Return whether devices of one name and no host are sampled at the same time."""
    last_ns = pl.when(pl.col("host").is_null()).then("last_ns")
    others = last_ns.cum_max().forward_fill().shift(1)
    is_beside = pl.col("host").is_null() & (pl.col("first_ns") < others)
    return is_beside.any().over("cluster", "_name")


def disjoint(held: pl.DataFrame) -> pl.DataFrame:
    """Leave time that two windows share to the one that began first.

    Args:
        held: `device`, `window`, `from_ns`, `to_ns`, `is_assumed` and `counts`.
    """
    ordered = held.sort("device", "from_ns", "to_ns", "window")
    reached = pl.col("to_ns").cum_max().shift(1).over("device")
    holder = pl.col("window").shift(1).over("device")
    rival = pl.col("window").shift(-1).over("device")
    claimed = pl.col("from_ns").shift(-1).over("device")
    is_late = (pl.col("from_ns") < reached) & (holder != pl.col("window"))
    is_followed = (claimed < pl.col("to_ns")) & (rival != pl.col("window"))
    cut = ordered.with_columns(
        from_ns=pl.max_horizontal("from_ns", reached),
        is_shared=is_late.fill_null(value=False) | is_followed.fill_null(value=False),
    )
    kept = cut.filter(pl.col("from_ns") < pl.col("to_ns"))
    return kept.select(*_WINDOW, "counts")


def without_seams(held: pl.DataFrame) -> pl.DataFrame:
    """Join windows of a device that touch: attempts of a run follow each other.

    Args:
        held: Rows of `held_windows`.

    Returns:
        The same time in fewer rows.
    """
    told = ("device", "window", "is_shared", "is_assumed", "counts")
    ordered = held.sort("device", "from_ns")
    is_new = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in told
    ) | pl.col("from_ns").ne_missing(pl.col("to_ns").shift(1))
    spans = ordered.with_columns(_span=is_new.cum_sum())
    joined = spans.group_by("_span", maintain_order=True).agg(
        pl.col(told).first(), pl.col("from_ns").first(), pl.col("to_ns").last()
    )
    return joined.select(held.columns)


def free_windows(held: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Return the sampled time of each device that no run held.

    Args:
        held: Rows of `held_windows`.
        devices: `device`, `first_ns` and `last_ns` of its samples.
    """
    spans = devices.select("device", "first_ns", "last_ns")
    inner = held.join(spans, on="device").sort("device", "from_ns")
    before = pl.col("to_ns").shift(1).over("device")
    gaps = inner.select(
        "device",
        from_ns=pl.max_horizontal(before, "first_ns"),
        to_ns=pl.min_horizontal("from_ns", "last_ns"),
    )
    ends = held.group_by("device").agg(pl.col("to_ns").max())
    rest = spans.join(ends, on="device", how="left").select(
        "device",
        from_ns=pl.max_horizontal("to_ns", "first_ns"),
        to_ns=pl.col("last_ns"),
    )
    is_alone = ~pl.col("device").is_in(held["device"].implode())
    kept = pl.concat([gaps, rest]).filter(
        (pl.col("from_ns") < pl.col("to_ns"))
        | (is_alone & (pl.col("from_ns") == pl.col("to_ns")))
    )
    return kept.select(
        "device",
        pl.lit(None, pl.String).alias("window"),
        "from_ns",
        "to_ns",
        is_shared=pl.lit(value=False),
        is_assumed=pl.lit(value=False),
    )
