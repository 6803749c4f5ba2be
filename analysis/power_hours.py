"""Power by device and hour, in place of samples of clusters that have too many."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class PowerHours(Table):
    """One row per device and hour, cut where runs began or ended to hold it.

    Only for clusters whose samples are not read at once. A row begins with the first
    sample of the day at the earliest and ends with its last; what lies between two days
    follows from power_days. Single samples are lost, so that answers differ a little
    from those by samples:

    * Energy is kept to a millijoule a row, power and means to a thousandth.
    * A sample at the very end of a hold is of the hold, not of the time after it.
    * A read of the counter beside midnight that stands out is not held against the
      reads of the other day: up to three silences of that device are not measured.
      Between days whose times are those of files nothing is measured.
    * Of two sources that tell a device beside each other, the one that does not count
      of a day may tell its last read: it is counted, and parts the time to the next.
    * A row that a later window parts is shared by time.
    * How often a sensor tells something new is the middle of what its days tell.
    """

    key: ClassVar = ("cluster", "host", "gpu_uuid", "level", "from_ns")
    day_column: ClassVar = "from_ns"

    cluster = c.identifier("Cluster of the device.")
    host = c.identifier("Node of the device.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    level = c.choice(
        "What was measured.", ("gpu_board", "module", "node_ac", "rack", "facility")
    )
    hour_ns = c.time_ns("Start of the hour, UTC.")
    from_ns = c.time_ns("Start of the row.")
    to_ns = c.time_ns("End of the row.")
    run_id = c.identifier(
        "Run that held the device, as known when the day was condensed.", nullable=True
    )
    samples_count = c.count("Samples, one for each time.")
    counter_mj = c.energy_mj("Energy by the energy counter.", nullable=True)
    counter_measured_ns = c.duration_ns("Time that it measured.", nullable=True)
    counter_gap_ns = c.duration_ns("Silences too long to be bridged.", nullable=True)
    counter_samples_count = c.count("Values of it.", nullable=True)
    counter_credit_mj = c.energy_mj(
        "What it showed when it was first read after it began anew: no time is known"
        " for it.",
        nullable=True,
    )
    counter_jump_ns = c.duration_ns(
        "Time over which it moved further than power can.", nullable=True
    )
    counter_reset_ns = c.duration_ns(
        "Time before the first read after a reset.", nullable=True
    )
    average_mj = c.energy_mj("Energy by averages over a second.", nullable=True)
    average_measured_ns = c.duration_ns("Time that it measured.", nullable=True)
    average_gap_ns = c.duration_ns("Silences too long to be bridged.", nullable=True)
    average_samples_count = c.count("Values of it.", nullable=True)
    average_edge_w = c.watts(
        "Greatest power at an edge of the row, between samples.", nullable=True
    )
    average_peak_w = c.watts("Greatest sample that is believed.", nullable=True)
    instant_mj = c.energy_mj("Energy by power of the moment.", nullable=True)
    instant_measured_ns = c.duration_ns("Time that it measured.", nullable=True)
    instant_gap_ns = c.duration_ns("Silences too long to be bridged.", nullable=True)
    instant_samples_count = c.count("Values of it.", nullable=True)
    instant_edge_w = c.watts(
        "Greatest power at an edge of the row, between samples.", nullable=True
    )
    instant_peak_w = c.watts("Greatest sample that is believed.", nullable=True)
    limit_w = c.watts("Highest limit in force.", nullable=True)
    doubts = c.text(
        "What is to be doubted, separated by commas: of all samples, or of one kind"
        " (`average_stale`); null where nothing is."
    )
    bits_observed_ns = c.duration_ns(
        "Time for which a sample told reasons of a lowered clock.", nullable=True
    )
    power_cap_bits_ns = c.duration_ns(
        "Part of it with a bit of power_cap.", nullable=True
    )
    thermal_bits_ns = c.duration_ns("Part of it with a bit of thermal.", nullable=True)
    power_brake_bits_ns = c.duration_ns(
        "Part of it with a bit of power_brake.", nullable=True
    )
    hardware_slowdown_bits_ns = c.duration_ns(
        "Part of it with a bit of hardware_slowdown.", nullable=True
    )
    sync_boost_bits_ns = c.duration_ns(
        "Part of it with a bit of sync_boost.", nullable=True
    )
    power_cap_counter_ns = c.duration_ns(
        "What the counter of time slowed rose by: power_cap.", nullable=True
    )
    power_cap_observed_ns = c.duration_ns("Time between its reads.", nullable=True)
    thermal_counter_ns = c.duration_ns(
        "What the counter of time slowed rose by: thermal.", nullable=True
    )
    thermal_observed_ns = c.duration_ns("Time between its reads.", nullable=True)
    loaded_w = c.watts("Mean power of samples under load.", nullable=True)
    loaded_w_count = c.count("Samples it is the mean of.", nullable=True)
    loaded_clock_mhz = c.quantity(
        "Mean clock of samples under load.", "MHz", nullable=True
    )
    loaded_clock_count = c.count("Samples it is the mean of.", nullable=True)
    utilization_ratio = c.ratio("Mean utilization.", nullable=True)
    utilization_count = c.count("Samples it is the mean of.", nullable=True)
    temperature_c = c.quantity(
        "Highest temperature of the chip.", "degC", minimum=None, nullable=True
    )
