"""A small cluster with a fault of each kind, and what is read of its files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from ingest.synthetic.cluster.cluster import Cluster, cluster_of
from ingest.synthetic.cluster.scenario import (
    Fault,
    Fleet,
    Layout,
    Noise,
    Scenario,
    Schedule,
)
from ingest.synthetic.cluster.truth import truth_of
from ingest.synthetic.cluster.write_raw import RawOptions, write_raw

S: Final = 10**9

#: Steps of a minute: 1,440 of them in the day.
SCHEDULE: Final = Schedule(step_s=60.0, data_s=0.5, checkpoint_every=10)

#: Ranks and steps differ, but no step is long by chance or by the time of day.
CALM: Final = Noise(outliers=0.0, diurnal=0.0)

#: Each kind at steps of its own. The stops are late, so that all before is attempt 0.
EACH: Final[dict[str, Fault]] = {
    "slow": Fault(kind="slow_gpu", rank=3, from_step=100, steps=60, severity=1.3),
    "hot": Fault(kind="thermal_cap", rank=4, from_step=200, steps=60, severity=1.2),
    "capped": Fault(kind="power_cap", rank=9, from_step=300, steps=60, severity=1.12),
    "far": Fault(kind="slow_link", rank=12, from_step=400, steps=60, severity=3.0),
    "jam": Fault(kind="flow_collision", host=2, from_step=500, steps=60, severity=2.0),
    "late": Fault(kind="data_stall", from_step=600, steps=60, severity=2.0),
    "late_host": Fault(
        kind="data_stall", host=0, from_step=680, steps=30, severity=5.0
    ),
    "storm": Fault(kind="checkpoint_storm", from_step=720, steps=100, severity=5.0),
    "xid": Fault(kind="xid", rank=25, from_step=863, xid=95),
    "hang": Fault(kind="hang", host=0, from_step=975),
    "lemon": Fault(kind="lemon_node", host=1, from_s=66_000, length_s=600, severity=1),
    "preempted": Fault(kind="preemption", from_s=76_000, length_s=1_800),
}
NUMBERS: Final = {name: number for number, name in enumerate(EACH)}

SCENARIO: Final = Scenario(
    seed=11,
    run_id="each",
    fleet=Fleet(hosts=4, spares=1),
    layout=Layout(tp=8, dp=4),
    schedule=SCHEDULE,
    noise=CALM,
    faults=tuple(EACH.values()),
)

Matrix = npt.NDArray[np.float64]


def without(*names: str) -> Scenario:
    """Return the scenario without some of its faults."""
    left = tuple(fault for name, fault in EACH.items() if name not in names)
    return msgspec.structs.replace(SCENARIO, faults=left)


def only(*names: str) -> Scenario:
    """Return the scenario with some of its faults alone."""
    return msgspec.structs.replace(SCENARIO, faults=tuple(EACH[one] for one in names))


@dataclass(frozen=True)
class Made:
    """A cluster whose files were written, with the truth about it."""

    cluster: Cluster
    folder: Path
    truth: dict[str, Any]

    @property
    def steps(self) -> pl.DataFrame:
        """All rows of steps, in the order of their key."""
        rows = pl.read_parquet(self.folder / "steps" / "*.parquet")
        return rows.sort("attempt", "step", "rank")

    def fault(self, name: str) -> dict[str, Any]:
        """Return what the truth says of a fault."""
        found: dict[str, Any] = self.truth["faults"][NUMBERS[name]]
        return found

    def matrix(self, column: str, attempt: int = 0) -> Matrix:
        """Return a column of an attempt: steps x ranks."""
        rows = self.steps.filter(pl.col("attempt") == attempt)
        values = rows[column].to_numpy().astype(np.float64)
        return values.reshape(-1, self.cluster.scenario.ranks)

    def starts(self) -> dict[tuple[int, int], int]:
        """Return when each step of each attempt starts. [ns]"""
        first = self.steps.filter(pl.col("rank") == 0)
        keys = zip(first["attempt"], first["step"], strict=True)
        return dict(zip(keys, first["start_ns"], strict=True))

    def durations(self, attempt: int = 0) -> dict[int, int]:
        """Return what each step took all ranks together. [GPU ns]"""
        rows = self.steps.filter(pl.col("attempt") == attempt)
        sums = rows.group_by("step").agg(pl.col("duration_ns").sum())
        return dict(sums.iter_rows())


def made(scenario: Scenario, folder: Path, *, power: bool = False) -> Made:
    """Write a cluster's files."""
    cluster = cluster_of(scenario)
    span = (scenario.begun_ns, cluster.until_ns)
    options = RawOptions(steps="parquet", power=power, power_interval_ns=60 * S)
    written = write_raw(folder, cluster, span, options)
    return Made(cluster, folder, truth_of(cluster, written.booked))
