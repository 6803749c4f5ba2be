"""One row per device and sample."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class PowerSamples(Table):
    """One row per device and sample."""

    key: ClassVar = ("cluster", "host", "gpu_uuid", "level", "time_ns", "series")
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where the source does not tell.", nullable=True)
    gpu_uuid = c.identifier(
        "UUID of the GPU, or the best identity that the source gives. One that is"
        " unique in its node only names the file, too, where no host is known:"
        " `index:0 of <file> <first digits of file_id>`."
    )
    level = c.choice(
        "What was measured.", ("gpu_board", "module", "node_ac", "rack", "facility")
    )
    time_ns = c.time_ns("Time of the sample.")
    time_quality = c.choice(
        "How the time is known; `resampled` is that of a query, up to five minutes"
        " after the sample.",
        ("exact", "zone_assumed", "file_time", "resampled"),
    )
    power_average_w = c.watts("Power, mean over about a second.", nullable=True)
    power_instant_w = c.watts("Power at the moment.", nullable=True)
    power_limit_w = c.watts("Limit in force.", nullable=True)
    energy_mj = c.energy_mj("State of the energy counter.", nullable=True)
    temperature_c = c.quantity(
        "Temperature of the chip.", "degC", minimum=None, nullable=True
    )
    memory_temperature_c = c.quantity(
        "Temperature of the memory.", "degC", minimum=None, nullable=True
    )
    sm_clock_mhz = c.quantity(
        "Clock of the streaming multiprocessors.", "MHz", nullable=True
    )
    throttle_reasons = c.number(
        "Bits of the reasons for a lowered clock.", nullable=True
    )
    throttle_power_ns = c.duration_ns(
        "State of the counter of time slowed for power.", nullable=True
    )
    throttle_thermal_ns = c.duration_ns(
        "State of the counter of time slowed for heat.", nullable=True
    )
    last_xid = c.number(
        "Last Xid of the GPU, as DCGM's gauge keeps it; 0: none since the driver was"
        " loaded.",
        nullable=True,
    )
    utilization_ratio = c.ratio(
        "Share of the last second with work on the GPU.", nullable=True
    )
    series = c.identifier(
        "Metric that the row is of, where its source gives each alone; null where the"
        " row has everything that was sampled.",
        nullable=True,
    )
    series_count = c.count(
        "Series of this board and time that its power was collapsed from: MIG"
        " instances, time slices and pods repeat it; null where no reader counts them.",
        nullable=True,
    )
