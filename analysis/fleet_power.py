"""Power of all devices of a cluster together, over time."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c

SEMANTICS = ("instant", "average", "counter")


class FleetPower(Table):
    """One row per level, run and point of time: what its devices drew together.

    Only for clusters whose samples are not read at once. Each sample stands until the
    next of its device; between the last of a day and the first of the next, none does.
    A row holds until the next one.

    Points are half as far apart as the first devices of the day are refreshed, most of
    them GPUs. The power of a run is told at the points that its own sensors ask for,
    those of its samples, where these are no closer; else at the points of this table,
    so that swings which only its fastest sensors show are lost. A run that held devices
    between the samples of two days alone is not told.
    """

    key: ClassVar = ("cluster", "level", "run_id", "semantics", "time_ns")
    day_column: ClassVar = "time_ns"

    cluster = c.identifier("Cluster of the devices.")
    level = c.choice(
        "What was measured.", ("gpu_board", "module", "node_ac", "rack", "facility")
    )
    run_id = c.identifier("Run that held them; null where none did.", nullable=True)
    semantics = c.choice("What readings are.", SEMANTICS)
    time_ns = c.time_ns("Point of time, a multiple of grid_ns.")
    grid_ns = c.duration_ns("Time between two points.")
    power_w = c.watts("Sum of the readings in force.", nullable=True)
    devices_count = c.count("Devices whose reading is in force.", nullable=True)
    low_w = c.watts("Lowest reading taken until the next point.", nullable=True)
    high_w = c.watts("Highest reading taken until then.", nullable=True)
    readings_count = c.count("Readings taken until then.")
    sampled_w = c.watts("Sum of these readings.")
    line_w = c.watts("Power at this point by straight lines between samples.")
    energy_j = c.quantity(
        "Energy from this point to the next, by straight lines between samples.", "J"
    )
    measured_ns = c.duration_ns("Time of all devices that it was measured in.")


class FleetReadings(Table):
    """One row per age of readings at the points of fleet_power, of a run and a day."""

    key: ClassVar = ("cluster", "run_id", "semantics", "day_ns", "age_ns", "points")
    day_column: ClassVar = "day_ns"

    cluster = c.identifier("Cluster of the devices.")
    run_id = c.identifier("Run that held them.")
    semantics = c.choice("What readings are.", SEMANTICS)
    day_ns = c.time_ns("Start of the day, UTC.")
    age_ns = c.duration_ns("Age of a reading at the first point that it stands for.")
    points = c.number("Points, one after the other, that it stands for.")
    readings_count = c.count("Readings.")
