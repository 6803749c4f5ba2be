"""Some devices of a day, whole, with what they are cut by; and what is kept of them."""

from typing import Final, NamedTuple, Self

import polars as pl

from analysis._analysis import Frames
from analysis._energy_chunks import numbered
from analysis._energy_held import held_gpus, held_nodes
from analysis._energy_names import identity
from analysis._energy_windows import DEVICE, free_windows
from analysis._host_names import host_key
from analysis._power_roll_fleet import Fleet
from analysis._power_roll_pieces import pieces_of
from analysis._rollup import Day
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from ingest.times import midnight_ns

#: Level of the supply of a node.
NODE: Final = "node_ac"

_OF_GPUS: Final = ("gpu_board", "module")

#: Columns by which rows are found: host and GPU, however they are spelled.
MARKS: Final = ("_label", "_key")


class Lot(NamedTuple):
    """Samples of devices, none of them split.

    Attributes:
        samples: Rows of PowerSamples with `device`.
        devices: DEVICE, `level`, `first_ns`, `last_ns`, `samples` and `device`.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        pieces: Rows of `pieces_of`.
        spans: `device`, `level`, `run_id` (null where nobody held it), `from_ns` and
            `to_ns`: all of the time sampled and held.
    """

    samples: pl.DataFrame
    devices: pl.DataFrame
    held: pl.DataFrame
    pieces: pl.DataFrame
    spans: pl.DataFrame

    def only(self, devices: pl.Series) -> Self:
        """Return the part about some devices."""
        wanted = devices.implode()
        return type(self)(*(_among(frame, wanted) for frame in self))


def _among(frame: pl.DataFrame, wanted: pl.Series) -> pl.DataFrame:
    return frame.filter(pl.col("device").is_in(wanted))


class Rolled(NamedTuple):
    """What is kept of devices: by `device` and `piece`, by `device`, and of all."""

    hours: pl.DataFrame
    days: pl.DataFrame
    fleet: Fleet
    xids: pl.DataFrame


class Holders(NamedTuple):
    """What tells who held devices on a day.

    Attributes:
        allocations: Rows of Allocations, with MARKS.
        gpus: Rows of Gpus, with MARKS.
        attempts: Rows of Attempts.
        from_ns: When the day begins.
    """

    allocations: pl.DataFrame
    gpus: pl.DataFrame
    attempts: pl.DataFrame
    from_ns: int

    @classmethod
    def of(cls, day: Day, frames: Frames) -> Self:
        """Take them from the tables of the day."""
        return cls(
            _marked(frames[Allocations].collect()),
            _marked(frames[Gpus].collect()),
            frames[Attempts].collect(),
            midnight_ns(day.day),
        )

    def held(self, devices: pl.DataFrame) -> pl.DataFrame:
        """Return when runs held devices.

        Args:
            devices: DEVICE, `level`, `first_ns`, `last_ns`, `samples` and `device`.

        Returns:
            `run_id`, `device`, `from_ns` and `to_ns` on the day, sorted by device and
            time.
        """
        near = self._near(devices)
        parts = []
        for levels, is_node in ((_OF_GPUS, False), ((NODE,), True)):
            mine = devices.filter(pl.col("level").is_in(levels))
            told = mine.group_by(DEVICE).agg(
                pl.col("first_ns").min(),
                pl.col("last_ns").max(),
                pl.col("samples").sum(),
            )
            known = numbered(told, near.gpus)
            held = (
                held_nodes(near.allocations, near.gpus, known)
                if is_node
                else held_gpus(near.allocations, near.gpus, near.attempts, known)
            )
            parts.append(_of_rows(held, known, mine))
        cut = pl.concat(parts).with_columns(pl.col("from_ns").clip(self.from_ns))
        return cut.filter(pl.col("from_ns") < pl.col("to_ns")).sort("device", "from_ns")

    def _near(self, devices: pl.DataFrame) -> "Holders":
        """Leave what is of the hosts or GPUs of some devices, without marks."""
        if devices["host"].null_count():
            return self._only(pl.lit(value=True))
        mine = _marked(devices)
        labels, keys = (mine[name].unique().implode() for name in MARKS)
        near = pl.col("_label").is_in(labels) | pl.col("_key").is_in(keys)
        return self._only(near | pl.col("host").is_null())

    def _only(self, wanted: pl.Expr) -> "Holders":
        allocations, gpus = (
            frame.filter(wanted).drop(MARKS) for frame in (self.allocations, self.gpus)
        )
        return self._replace(allocations=allocations, gpus=gpus)


def _marked(rows: pl.DataFrame) -> pl.DataFrame:
    """Add MARKS: they are looked up for each window."""
    return rows.with_columns(_label=_label(), _key=identity("gpu_uuid"))


def _label() -> pl.Expr:
    """Return the first label of the name of a host, in lower case."""
    return host_key().str.split(".").list.first()


def _of_rows(
    held: pl.DataFrame, known: pl.DataFrame, devices: pl.DataFrame
) -> pl.DataFrame:
    """Give holds to all rows that are of their device, however it was spelled."""
    seen = known.select(_device="device", seen="seen").explode("seen").unnest("seen")
    rows = devices.join(seen, on=DEVICE, nulls_equal=True)
    joined = rows.select("device", "_device").join(
        held.select("run_id", "from_ns", "to_ns", _device="device"), on="_device"
    )
    return joined.select("run_id", "device", "from_ns", "to_ns")


def lot_of(samples: pl.DataFrame, devices: pl.DataFrame, holders: Holders) -> Lot:
    """Return a lot of devices with what they are cut by.

    Args:
        samples: Rows of PowerSamples with `device`.
        devices: DEVICE, `level`, `first_ns`, `last_ns`, `samples` and `device`.
        holders: Who held them.
    """
    held = holders.held(devices)
    named = held.rename({"run_id": "window"})
    free = free_windows(named, devices).rename({"window": "run_id"})
    span = ("device", "run_id", "from_ns", "to_ns")
    spans = pl.concat([held.select(span), free.select(span)])
    levels = devices.select("device", "level")
    return Lot(
        samples,
        devices,
        held,
        pieces_of(devices, held),
        spans.join(levels, on="device").sort("device", "from_ns"),
    )
