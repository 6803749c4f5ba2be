"""Clusters whose power hypothesis draws: devices that come and go, midnight within."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import strategies as st

from analysis import Frames, Results
from analysis._rollup import held_day
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.power_rollup import ROLLUP
from ingest.tables import PowerSamples, Table
from ingest.times import DAY_NS, SECOND_NS, day_name
from tests.analysis.odd_power import COLUMNS, ODDITIES, odd_rows

#: A midnight, about which samples are taken.
MIDNIGHT_NS: Final = 20_000 * DAY_NS

#: Time around it. [s]
SPAN_S: Final = 2_400

#: Columns between which rows of the tables of who held what are true.
EDGES: Final = (("from_ns", "to_ns"), ("start_ns", "end_ns"))

LEVELS: Final = ("gpu_board", "gpu_board", "gpu_board", "module", "node_ac")

Row = dict[str, Any]
Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cluster:
    """What was sampled, and who held it.

    Attributes:
        samples: Rows of PowerSamples, in the order of its key.
        tables: Allocations, Gpus and Attempts.
    """

    samples: pl.DataFrame
    tables: dict[type[Table], pl.DataFrame]

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """Show samples and holds in few words where an example fails."""
        holds = self.tables[Allocations].select("run_id", "attempt", "from_ns", "to_ns")
        printer.text(f"{self.samples} {holds.unique()}")

    def days(self) -> list[Results]:
        """What is kept of each day."""
        days = self.samples["time_ns"] // DAY_NS
        return [
            self._day(day, self.samples.filter(days == day))
            for day in days.unique().sort().to_list()
        ]

    def _day(self, day: int, samples: pl.DataFrame) -> Results:
        first, last = day * DAY_NS, (day + 1) * DAY_NS
        told = {
            of: _touching(rows, first, last).lazy() for of, rows in self.tables.items()
        }
        held = held_day("pod", day_name(first), windows(samples))
        return ROLLUP.compute(held, Frames(told), ROLLUP.thresholds)

    def light(self) -> Frames:
        """What analyses see of a cluster whose samples are read at once."""
        told: dict[type[Table], pl.DataFrame] = {
            **self.tables,
            PowerSamples: self.samples,
        }
        return Frames({of: rows.lazy() for of, rows in told.items()})

    def heavy(self) -> Frames:
        """What they see of one that is condensed by day."""
        days = self.days()
        kept: dict[type[Table], pl.DataFrame] = {
            of: pl.concat([of.create_empty(), *(day[of] for day in days)])
            for of in ROLLUP.outputs
        }
        return Frames({of: rows.lazy() for of, rows in {**self.tables, **kept}.items()})


def _touching(rows: pl.DataFrame, first: int, last: int) -> pl.DataFrame:
    """Rows that are true between two times, cut at the second."""
    told = rows
    for begin, end in EDGES:
        if {begin, end} <= {*rows.columns}:
            near = told.filter((pl.col(begin) < last) & (pl.col(end) >= first))
            told = near.with_columns(pl.col(end).clip(upper_bound=last))
    return told


def windows(samples: pl.DataFrame, names: int = 3) -> list[pl.DataFrame]:
    """Rows in the order of their key, cut every so many names of devices."""
    ordered = samples.sort("gpu_uuid", *PowerSamples.key)
    cuts = ordered.with_columns(cut=pl.col("gpu_uuid").rle_id() // names)
    return [
        part.drop("cut").sort(PowerSamples.key)
        for part in cuts.partition_by("cut", maintain_order=True)
    ]


@st.composite
def clusters(
    draw: st.DrawFn, odd: Sequence[str] = ODDITIES, *, alike: bool = False
) -> Cluster:
    """Groups of devices that are sampled together, and runs that hold them.

    Samples are at whole seconds; runs begin and end between two of them.

    Args:
        draw: Draws.
        odd: What may be odd about a device.
        alike: Whether all devices are boards that tell everything equally often.
    """
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    interval = draw(_INTERVALS)
    parts: list[pl.DataFrame] = [PowerSamples.create_empty()]
    for group in range(draw(st.integers(1, 3))):
        known = frozenset(COLUMNS) if alike else draw(_KNOWN)
        level = LEVELS[0] if alike else draw(st.sampled_from(LEVELS))
        times = _times(draw, interval if alike else draw(_INTERVALS))
        for number in range(draw(st.integers(1, 5))):
            oddities = draw(st.sampled_from(_few(odd)))
            rows = odd_rows(times, known, oddities, noise).with_columns(
                cluster=pl.lit("pod"),
                host=pl.lit(f"node-{group}"),
                gpu_uuid=pl.lit(f"GPU-{group}{number}"),
                level=pl.lit(level),
            )
            parts.append(rows)
            if "module" in oddities and level == "gpu_board":
                parts.append(rows.with_columns(level=pl.lit("module")))
    every = pl.concat(parts, how="diagonal_relaxed")
    samples = every.select(
        pl.col(name).cast(kind) for name, kind in parts[0].schema.items()
    ).sort(PowerSamples.key)
    return Cluster(samples, _holders(draw, samples))


_INTERVALS: Final = st.sampled_from([10, 15, 30, 60])
_KNOWN: Final = st.frozensets(st.sampled_from(COLUMNS), min_size=1)


def _few(odd: Sequence[str]) -> list[frozenset[str]]:
    """Sets of up to two oddities; as many without any."""
    pairs = [frozenset(pair) for pair in combinations(odd, 2)]
    some = [*(frozenset([one]) for one in odd), *pairs]
    return [frozenset()] * max(2 * len(some), 1) + some


def _times(draw: st.DrawFn, interval: int) -> Times:
    """Times of samples, with gaps."""
    start = draw(st.integers(-SPAN_S, SPAN_S - 300))
    end = draw(st.integers(start + 2 * interval, SPAN_S))
    seconds = np.arange(start, end + 1, interval, dtype=np.int64)
    for _ in range(draw(st.integers(0, 2))):
        gap, length = draw(st.integers(start, end)), draw(st.integers(1, 1_200))
        seconds = seconds[(seconds < gap) | (seconds > gap + length)]
    return MIDNIGHT_NS + seconds * SECOND_NS


def _holders(draw: st.DrawFn, samples: pl.DataFrame) -> dict[type[Table], pl.DataFrame]:
    """Attempts of two runs, one after the other or nearly, with most devices."""
    devices = samples.select("host", "gpu_uuid").unique().sort("host", "gpu_uuid")
    rows: list[Row] = []
    end = MIDNIGHT_NS + draw(st.integers(-SPAN_S, SPAN_S)) * SECOND_NS + SECOND_NS // 2
    for attempt in range(draw(st.integers(0, 4))):
        start = end + draw(st.integers(-300, 600)) * SECOND_NS
        end = start + draw(st.integers(1, SPAN_S)) * SECOND_NS
        held = {
            "run_id": draw(st.sampled_from(["r", "s"])),
            "attempt": attempt,
            "cluster": "pod",
            "role": "rank",
            **{
                name: at
                for two in EDGES
                for name, at in zip(two, (start, end), strict=True)
            },
        }
        for slot, device in enumerate(devices.iter_rows(named=True)):
            if draw(st.integers(0, 9)):
                rows.append(held | device | {"slot": slot, "rank": slot})
    attempts = {row["attempt"]: row for row in rows}
    return {
        Allocations: rows_of(Allocations, rows),
        Gpus: rows_of(Gpus, rows),
        Attempts: rows_of(Attempts, [*attempts.values()]),
    }


def rows_of(table: type[Table], rows: list[Row]) -> pl.DataFrame:
    """Rows of a table; what they do not tell is null."""
    schema = table.create_empty().schema
    columns = {name: [row.get(name) for row in rows] for name in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)
