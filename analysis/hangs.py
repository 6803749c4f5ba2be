"""One row per hang: who is to blame, from the state that ranks dumped."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._hang_found import hangs_in_dumps
from analysis._hang_polls import LEAST_POLLS, hangs_in_polls
from analysis.attempts import Attempts
from analysis.placing import place
from ingest.tables import Collectives, GroupStatus, Table
from ingest.tables import _columns as c

KINDS: Final = (
    "rank_dead",
    "rank_stuck",
    "wrong_collective",
    "wrong_size",
    "group_starved",
    "undecided",
)


class Hangs(Table):
    """One row per hang."""

    key: ClassVar = ("run_id", "attempt", "hang_id")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    hang_id = c.identifier("Name of the hang in its run.")
    source = c.choice("What tells of it.", ("dumps", "polls"))
    first_ns = c.time_ns(
        "When the first rank asked for its last operation.", nullable=True
    )
    last_ns = c.time_ns(
        "When the last rank asked for its last operation.", nullable=True
    )
    ranks_expected = c.number("Ranks that its groups name.")
    ranks_seen = c.number("Ranks that left a dump, or answered a poll.")
    ranks_elsewhen = c.number("Ranks whose dump is older than what others finished.")
    ranks_missing = c.number("Ranks without a dump.")
    ranks_waiting = c.number("Ranks that wait for others.")
    stuck_groups = c.number("Groups in which somebody waits.")
    kind = c.choice("What began it.", KINDS)
    candidates_count = c.count("Ranks that fit the evidence; above four undecided.")
    verdict = c.text("The finding in words.")


class HangSuspects(Table):
    """One row per rank of a hang: candidates first, then those who only wait."""

    key: ClassVar = ("run_id", "attempt", "hang_id", "position")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    hang_id = c.identifier("Name of the hang in its run.")
    position = c.index("Order: candidates first, by how many wait for them.")
    rank = c.index("Global rank; null where only polls tell.", nullable=True)
    rank_in_group = c.index("Position in the group, from polls.", nullable=True)
    host = c.identifier("Node, where polls tell it.", nullable=True)
    role = c.choice(
        "What it is to the hang.",
        ("candidate", "blocked", "no_dump", "elsewhen", "idle"),
    )
    is_candidate = c.flag("Whether the hang may have begun in it.")
    rule = c.identifier("Rule that found a candidate.", nullable=True)
    depth = c.index(
        "Ranks on the way to the nearest candidate: 0 of one itself, 1 of who waits for"
        " one; null where no way leads to one.",
        nullable=True,
    )
    group_id = c.identifier("Group in which it is waited for, or waits.", nullable=True)
    parallel_kind = c.identifier("What that group is for.", nullable=True)
    kind = c.identifier("Operation there.", nullable=True)
    sequence = c.number("Number of the operation in the group.", nullable=True)
    bytes_total = c.size_bytes("Size of its message.", nullable=True)
    waiting_count = c.count("Ranks that wait for it directly.", nullable=True)
    last_group_id = c.identifier("Group of the last that it asked for.", nullable=True)
    last_kind = c.identifier("The last that it asked for.", nullable=True)
    last_sequence = c.number("Number of that in its group.", nullable=True)
    last_state = c.identifier("How far that got.", nullable=True)
    last_ns = c.time_ns("When it asked for that.", nullable=True)
    evidence = c.text("Why it has its role, in words.")


class HangWaits(Table):
    """One row per operation that ranks wait in, and rank that waits or is waited for.

    An edge of the waiting graph is a pair of rows of one operation: who waits, and who
    is awaited.
    """

    key: ClassVar = ("run_id", "attempt", "hang_id", "operation", "role", "rank")

    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index("Attempt of the run, counted from zero.")
    hang_id = c.identifier("Name of the hang in its run.")
    operation = c.number("Operation that somebody waits in.")
    role = c.choice("Side of the rank.", ("waits", "awaited"))
    rank = c.index("Global rank.")
    group_id = c.identifier("Group of the operation.")
    parallel_kind = c.identifier("What the group is for.", nullable=True)
    kind = c.identifier("Operation.", nullable=True)
    is_p2p = c.flag("Whether it is a send or a receive.")
    sequence = c.number("Number in the group.", nullable=True)
    rule = c.identifier("Why it is awaited.", nullable=True)
    is_candidate = c.flag("Whether the hang may have begun in the rank.")


def find_hangs(
    collectives: dy.LazyFrame[Collectives],
    statuses: dy.LazyFrame[GroupStatus],
    attempts: dy.LazyFrame[Attempts],
    least_polls: int = LEAST_POLLS,
) -> Results:
    """Find hangs, and the ranks in which they may have begun.

    One rule for all: each rank stands at the oldest operation that it has not finished,
    and waits for the members that do not stand there with it, or entered something
    else. Following who waits for whom leads to ranks that wait for nobody else: those
    are named, at most four. A rank that waits is excused by what it waits for, unless
    it is one of at most four that asked for less than others: its host stopped, too.

    Args:
        collectives: What dumps hold of collectives.
        statuses: How far ranks got in their groups, from dumps and polls.
        attempts: Attempts, to place the hangs in.
        least_polls: Polls without progress that make a hang. [1]

    Returns:
        Frames of Hangs, HangSuspects and HangWaits, in the order of their keys.
    """
    told = [
        hangs_in_dumps(collectives, statuses),
        hangs_in_polls(statuses, least_polls),
    ]
    hangs = _joined([found.hangs for found in told])
    if hangs is None:
        return {
            table: table.create_empty() for table in (Hangs, HangSuspects, HangWaits)
        }
    undated = hangs.with_columns(attempt=pl.lit(None, pl.Int32))
    placed = place(undated.lazy(), attempts, "first_ns").collect()
    attempt = placed.select("run_id", "hang_id", "attempt")
    frames: dict[type[Table], pl.DataFrame] = {Hangs: placed}
    for table, part in ((HangSuspects, "suspects"), (HangWaits, "waits")):
        rows = _joined([getattr(found, part) for found in told])
        if rows is not None:
            frames[table] = rows.join(attempt, on=("run_id", "hang_id"))
    return {
        table: _finished(table, frames) for table in (Hangs, HangSuspects, HangWaits)
    }


def _joined(parts: list[pl.DataFrame | None]) -> pl.DataFrame | None:
    known = [part for part in parts if part is not None]
    return pl.concat(known, how="diagonal_relaxed") if known else None


def _finished(
    table: type[Table], frames: dict[type[Table], pl.DataFrame]
) -> pl.DataFrame:
    if table not in frames:
        return table.create_empty()
    frame = frames[table]
    missing = [
        pl.lit(None).alias(name)
        for name in table.column_names()
        if name not in frame.columns
    ]
    rows = frame.with_columns(*missing).select(table.column_names()).sort(table.key)
    return table.validate(rows, cast=True)


def _compute(frames: Frames, thresholds: Thresholds) -> Results:
    return find_hangs(
        frames[Collectives],
        frames[GroupStatus],
        frames[Attempts],
        int(thresholds["hang_least_polls"]),
    )


ANALYSIS: Final = Analysis(
    name="hangs",
    version=2,
    describes="Which ranks a hang began in, from dumps and polls",
    inputs=(Collectives, GroupStatus, Attempts),
    needs=(Collectives, GroupStatus),
    outputs=(Hangs, HangSuspects, HangWaits),
    compute=_compute,
    thresholds={"hang_least_polls": LEAST_POLLS},
)
