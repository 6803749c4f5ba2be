"""One row per rank and group of a hang dump."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class GroupStatus(Table):
    """One row per rank and group of a hang dump."""

    key: ClassVar = ("run_id", "attempt", "dump_id", "group_id", "rank")

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    dump_id = c.identifier("Dump that the rank was seen in.")
    group_id = c.identifier("Group of ranks.")
    rank = c.index("Global rank.")
    last_enqueued = c.number("Number of the last collective asked for.", nullable=True)
    last_started = c.number("Number of the last collective started.", nullable=True)
    last_completed = c.number("Number of the last collective completed.", nullable=True)
    entries_seen = c.number("Entries that the dump holds for the group.", nullable=True)
