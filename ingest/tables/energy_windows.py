"""One row per device and measured window."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class EnergyWindows(Table):
    """One row per device and window over which its energy was measured.

    The energy of a window says nothing of the power at any moment in it, and windows
    may lie inside each other: no row is a sample of power, and none is added to another
    before that is looked at.
    """

    key: ClassVar = (
        "cluster",
        "host",
        "gpu_uuid",
        "level",
        "window",
        "start_ns",
        "end_ns",
        "boot_offset_ns",
    )
    day_column: ClassVar = "start_ns"

    file_id = c.identifier("File that the row was read from.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where the source does not tell.", nullable=True)
    gpu_uuid = c.identifier(
        "UUID of the GPU, or the best identity that the source gives; `node` of what is"
        " no single GPU; where no host is known, `of` the file."
    )
    level = c.choice(
        "What was measured; `gpus`, `cpus` and `memory` are all of a node together,"
        " `tracked` is their sum.",
        (
            "gpu_board",
            "module",
            "gpus",
            "cpus",
            "memory",
            "tracked",
            "node_ac",
            "rack",
            "facility",
        ),
    )
    window = c.text("Name that the program gave the window.")
    start_ns = c.time_ns(
        "Start of the window; null where its clock has no date.", nullable=True
    )
    end_ns = c.time_ns(
        "End of the window; null where its clock has no date.", nullable=True
    )
    boot_offset_ns = c.duration_ns(
        "Start of the window since the node started, where its clock counts so.",
        nullable=True,
    )
    duration_ns = c.duration_ns("Length of the window.")
    time_quality = c.choice(
        "How the times are known.", ("exact", "zone_assumed", "boot_relative")
    )
    energy_mj = c.energy_mj(
        "Energy used in the window; 0 where it is shorter than the sensor's refresh."
    )
