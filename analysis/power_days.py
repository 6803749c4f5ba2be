"""What a day of a device leaves to the next, and what its sensors were like."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class PowerDays(Table):
    """One row per device and day: its first and last samples, and how it was sampled.

    What lies between the last sample of a day and the first of the next is of neither
    day: it follows from two such rows.
    """

    key: ClassVar = ("cluster", "host", "gpu_uuid", "level", "first_ns")
    day_column: ClassVar = "first_ns"

    cluster = c.identifier("Cluster of the device.")
    host = c.identifier("Node of the device.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    level = c.choice(
        "What was measured.", ("gpu_board", "module", "node_ac", "rack", "facility")
    )
    first_ns = c.time_ns("First sample of the day.")
    last_ns = c.time_ns("Last sample of the day.")
    samples_count = c.count("Rows of samples.")
    hours_count = c.count("Rows of power_hours.")
    ceiling_w = c.watts(
        "Most that its samples were believed; null where any is.", nullable=True
    )
    is_file_time = c.flag("Whether times are those at which files were written.")
    counter_first_ns = c.time_ns(
        "First value of the energy counter that is believed.", nullable=True
    )
    counter_first_mj = c.energy_mj("That value.", nullable=True)
    counter_last_ns = c.time_ns("Last value.", nullable=True)
    counter_last_mj = c.energy_mj("That value.", nullable=True)
    counter_reads_count = c.count("Values that are believed.", nullable=True)
    counter_interval_ns = c.quantity(
        "Median time between two of them.", "ns", nullable=True
    )
    counter_refresh_ns = c.quantity(
        "Median time between two changes.", "ns", nullable=True
    )
    average_first_ns = c.time_ns(
        "First value of averages over a second that is believed.", nullable=True
    )
    average_first_w = c.watts("That value.", nullable=True)
    average_last_ns = c.time_ns("Last value.", nullable=True)
    average_last_w = c.watts("That value.", nullable=True)
    average_reads_count = c.count("Values that are believed.", nullable=True)
    average_interval_ns = c.quantity(
        "Median time between two of them.", "ns", nullable=True
    )
    average_refresh_ns = c.quantity(
        "Median time between two changes.", "ns", nullable=True
    )
    instant_first_ns = c.time_ns(
        "First value of power of the moment that is believed.", nullable=True
    )
    instant_first_w = c.watts("That value.", nullable=True)
    instant_last_ns = c.time_ns("Last value.", nullable=True)
    instant_last_w = c.watts("That value.", nullable=True)
    instant_reads_count = c.count("Values that are believed.", nullable=True)
    instant_interval_ns = c.quantity(
        "Median time between two of them.", "ns", nullable=True
    )
    instant_refresh_ns = c.quantity(
        "Median time between two changes.", "ns", nullable=True
    )
    power_cap_first_ns = c.time_ns(
        "First read of the counter of time slowed for power.", nullable=True
    )
    power_cap_first_counter_ns = c.duration_ns("What it showed.", nullable=True)
    power_cap_last_ns = c.time_ns("Last read.", nullable=True)
    power_cap_last_counter_ns = c.duration_ns("What it showed.", nullable=True)
    thermal_first_ns = c.time_ns(
        "First read of the counter of time slowed for heat.", nullable=True
    )
    thermal_first_counter_ns = c.duration_ns("What it showed.", nullable=True)
    thermal_last_ns = c.time_ns("Last read.", nullable=True)
    thermal_last_counter_ns = c.duration_ns("What it showed.", nullable=True)
    reasons_first_ns = c.time_ns("First sample that told reasons.", nullable=True)
    reasons_last_ns = c.time_ns("Last sample that told reasons.", nullable=True)
    reasons_last = c.number("Bits that it told.", nullable=True)
    reasons_interval_ns = c.quantity(
        "Median time between two such samples of one run.", "ns", nullable=True
    )
    xid_first_ns = c.time_ns("First sample that told the last Xid.", nullable=True)
    xid_first = c.number("Xid that it told.", nullable=True)
    xid_last_ns = c.time_ns("Last one.", nullable=True)
    xid_last = c.number("Xid that it told.", nullable=True)


class XidChanges(Table):
    """One row per change of the gauge of the last Xid within a day."""

    key: ClassVar = ("cluster", "host", "gpu_uuid", "time_ns")
    day_column: ClassVar = "time_ns"

    cluster = c.identifier("Cluster of the GPU.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    time_ns = c.time_ns("Sample that first showed it.")
    before_xid = c.number("What the gauge showed before.")
    last_xid = c.number("What it shows from then on.")
