"""One row per rank, group and kind of count of a hang dump or of a RAS poll."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class GroupStatus(Table):
    """One row per rank, group and kind of count of a hang dump or of a RAS poll."""

    key: ClassVar = (
        "run_id",
        "attempt",
        "dump_id",
        "group_id",
        "kind",
        "rank",
        "rank_in_group",
    )
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    dump_id = c.identifier(
        "Dump or poll that the rank was seen in; ranks of one hang dump into a file"
        " each, so their dumps meet by group and time."
    )
    time_ns = c.time_ns(
        "Latest time in the dump; null where it holds no entry.", nullable=True
    )
    time_quality = c.choice(
        "How the time is known.", ("exact", "zone_assumed"), nullable=True
    )
    group_id = c.identifier("Group of ranks: name and members, or communicator.")
    group_size = c.number("Ranks of the group.", nullable=True)
    parallel_kind = c.identifier(
        "What the group is for (dp, tp, pp, ...).", nullable=True
    )
    kind = c.identifier(
        "Kind of collective that is counted; null: all of the group.", nullable=True
    )
    rank = c.index("Global rank; null where the source does not tell.", nullable=True)
    rank_in_group = c.index(
        "Position of the rank in its group, where the source tells only that.",
        nullable=True,
    )
    host = c.identifier("Node, where the source tells it.", nullable=True)
    rank_state = c.choice(
        "Whether the rank answered the poll.",
        ("answered", "missing", "unresponsive", "dead"),
        nullable=True,
    )
    last_enqueued = c.number(
        "Number of the last collective asked for; -1: none.", nullable=True
    )
    last_started = c.number("Number of the last collective started.", nullable=True)
    last_completed = c.number(
        "Number of the last collective completed; -1: none.", nullable=True
    )
    entries_seen = c.number("Entries that the dump holds for the group.", nullable=True)
