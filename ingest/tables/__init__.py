"""Every table that ingest fills, one file each. This is the contract of the lake."""

from typing import Final

from ingest.tables._table import Table, comment_of, unit_of
from ingest.tables.bandwidth_tests import BandwidthTests
from ingest.tables.checkpoints import Checkpoints
from ingest.tables.collectives import Collectives
from ingest.tables.data_reads import DataReads
from ingest.tables.energy_windows import EnergyWindows
from ingest.tables.failures import Failures
from ingest.tables.group_status import GroupStatus
from ingest.tables.host_map import HostMap
from ingest.tables.ingested_files import IngestedFiles
from ingest.tables.jobs import Jobs
from ingest.tables.kernels import Kernels
from ingest.tables.link_samples import LinkSamples
from ingest.tables.operations import Operations
from ingest.tables.power_samples import PowerSamples
from ingest.tables.rejected_rows import RejectedRows
from ingest.tables.run_cards import RunCards
from ingest.tables.step_timings import StepTimings
from ingest.tables.timers import Timers
from ingest.tables.training_metrics import TrainingMetrics

TABLES: Final[tuple[type[Table], ...]] = (
    RunCards,
    HostMap,
    StepTimings,
    Operations,
    Kernels,
    Collectives,
    GroupStatus,
    BandwidthTests,
    LinkSamples,
    Failures,
    Jobs,
    Checkpoints,
    PowerSamples,
    EnergyWindows,
    DataReads,
    TrainingMetrics,
    Timers,
    IngestedFiles,
    RejectedRows,
)

__all__ = [
    "TABLES",
    "BandwidthTests",
    "Checkpoints",
    "Collectives",
    "DataReads",
    "EnergyWindows",
    "Failures",
    "GroupStatus",
    "HostMap",
    "IngestedFiles",
    "Jobs",
    "Kernels",
    "LinkSamples",
    "Operations",
    "PowerSamples",
    "RejectedRows",
    "RunCards",
    "StepTimings",
    "Table",
    "Timers",
    "TrainingMetrics",
    "comment_of",
    "unit_of",
]
