"""What a repair means for the steps of ranks, or why they cannot tell."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._repairs import HIDDEN, Kind, Repair
from analysis._whatif_change import Change
from analysis._whatif_claims import NO_BOUND, Claim, Part
from analysis._whatif_clocks import slow_clocks
from analysis._whatif_places import ranges, ranks_of
from analysis._whatif_steps import RunSteps

_PEERS: Final = "its work is at the median of its peers in the same step and stage"
_STAGES: Final = "its work is at the median of the other stages in the same step"
_UNIT: Final = (
    "; the log tells only waits of data parallelism, so that whole replicas are"
    " repaired"
)

#: Kinds of repairs that only a trace of operations tells of, in words.
NEEDS_OPERATIONS: Final[Mapping[Kind, str]] = {
    "workers": "the slowest workers",
    "link": "transfers of a link",
    "kind": "kinds of operations",
    "gc": "pauses of garbage collection",
    "sequence-lengths": "micro-batches",
}
_NO_OPERATIONS: Final = "only a trace of operations tells of {}, and the run has none"


@dataclass(frozen=True, slots=True)
class Ask:
    """A repair of steps of ranks: what it does to their work, and what it claims."""

    change: Change
    claim: Claim


@dataclass(frozen=True, slots=True)
class Evidence:
    """What answers are made from.

    Attributes:
        run: The steps of the run.
        samples: Power telemetry.
    """

    run: RunSteps
    samples: pl.LazyFrame


def ask(part: Part, known: Evidence) -> Ask | str:
    """Return what a repair means for a run, or why its steps cannot tell.

    Args:
        part: What is repaired, and in which steps.
        known: The run's steps and power telemetry.
    """
    kind = part.repair.kind
    if kind in NEEDS_OPERATIONS:
        return _NO_OPERATIONS.format(NEEDS_OPERATIONS[kind])
    read = _ASKS.get(kind)
    return read(part.repair, known) if read else _of_seats(part, known.run)


def _of_seats(part: Part, run: RunSteps) -> Ask | str:
    kind = part.repair.kind
    found = ranks_of(part.repair, run.seen)
    if isinstance(found, str):
        return found
    is_stage = kind == "stage"
    if is_stage and run.sees_replicas:
        return "the log tells only waits of data parallelism, not those between stages"
    whole = _with_replicas(found, run)
    peers = _fewest_peers(whole, run, is_stage=is_stage)
    if not peers:
        return "it has no peers to compare with in its stage"
    spells = pl.DataFrame(
        part.spells,
        schema={"first_step": pl.Int64, "last_step": pl.Int64},
        orient="row",
    )
    seats = whole.select("attempt", "rank").join(spells, how="cross")
    change = Change(staged=seats) if is_stage else Change(seats=seats)
    unit = _UNIT if whole.height > found.height else ""
    said = (_STAGES if is_stage else _PEERS) + unit
    return Ask(change, Claim(kind, ranges(whole["rank"]), said, peers=peers))


def _with_replicas(found: pl.DataFrame, run: RunSteps) -> pl.DataFrame:
    """Add the ranks that the waits of a log cannot tell from those found."""
    if not run.sees_replicas:
        return found
    group = ["attempt", "dp_rank"]
    mates = run.seen.join(found.select(group).drop_nulls(), on=group, how="semi")
    return pl.concat([found, mates]).unique(["attempt", "rank"]).sort("attempt", "rank")


def _fewest_peers(whole: pl.DataFrame, run: RunSteps, *, is_stage: bool) -> int:
    """Return with how many others the least compared of some seats is compared. [1]"""
    if is_stage:
        return run.peers["pp_rank"].n_unique() - 1
    found = whole.join(run.peers, on=["attempt", "pp_rank"], nulls_equal=True)
    return int(str(found["peers"].min()))


def _data(_: Repair, known: Evidence) -> Ask | str:
    if "data_ns" not in known.run.told:
        return "the run tells no time that steps were blocked on input"
    change = Change(gone=frozenset({"data_ns"}))
    return Ask(
        change, Claim("data", "", "input is always there in time", is_bound=True)
    )


def _communication(repair: Repair, known: Evidence) -> Ask | str:
    if "communication_ns" not in known.run.told:
        return "the run tells no time that only communication took"
    if repair.name == HIDDEN:
        change, said = Change(is_hidden=True), "communication runs beside the rest"
    elif repair.text == "communication":
        change = Change(gone=frozenset({"communication_ns"}))
        said = "communication takes no time"
    else:
        return _NO_OPERATIONS.format("kinds of parallelism")
    return Ask(change, Claim("communication", "", said, is_bound=True))


def _clocks(_: Repair, known: Evidence) -> Ask | str:
    run = known.run
    found = slow_clocks(run.seen, run.steps.seats, known.samples)
    if isinstance(found, str):
        return found
    said = "compute of throttled GPUs scales with a clock at the job's median"
    return Ask(Change(clocks=found), Claim("clocks", ranges(found["rank"]), said))


def _checkpoint(repair: Repair, known: Evidence) -> Ask | str:
    stalls, steps = known.run.stalls, known.run.steps_seen
    if not stalls or not repair.number:
        return "the run tells no time that steps were blocked on a checkpoint"
    said = (
        f"a checkpoint every {repair.number} steps, where there were {stalls} in"
        f" {steps}, each as long as before; what a failure then costs is not in it"
    )
    change = Change(stalls=steps / repair.number / stalls)
    return Ask(change, Claim("checkpoint", "", said, is_bound=True))


def _everything(_: Repair, known: Evidence) -> Ask | str:
    if known.run.ranks == 1:
        return "steps of one rank are known: it has nobody to be held against"
    said = (
        "every rank does what is typical of the step, the mean of its stages' medians,"
        f" without scatter and imbalance, {NO_BOUND}"
    )
    return Ask(Change(is_even=True), Claim("everything", "", said))


_ASKS: Final[Mapping[Kind, Callable[[Repair, Evidence], Ask | str]]] = {
    "data": _data,
    "communication": _communication,
    "clocks": _clocks,
    "checkpoint": _checkpoint,
    "everything": _everything,
}
