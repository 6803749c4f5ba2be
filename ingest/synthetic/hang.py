"""Flight Recorder dumps of jobs that hang, or do not, with the ranks to blame.

Programs of ranks are run until none can go on: who waits for whom follows from the
fault alone. Layout, buffer, version, how far hosts are ahead of their GPUs and which
dumps are lost are drawn from the seed.
"""

import json
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ingest.synthetic._hang_dump import dump_of
from ingest.synthetic._hang_faults import HANGS, NODE_RANKS, Fault, Kind, break_ranks
from ingest.synthetic._hang_layout import Layout, drawn_layout
from ingest.synthetic._hang_machine import Machine, Rank
from ingest.synthetic._hang_program import Programs
from ingest.synthetic._hang_seen import Recorder, Seen

__all__ = ["HANGS", "Hang", "Kind", "drawn_hang", "write_hang"]

#: When the programs start: 2026-03-02 10:00 UTC. [ns]
STARTED_NS: Final = 1_772_445_600 * 10**9

_VERSIONS: Final = ("2.4", "2.5", "2.7", "2.9", "2.10")

#: Jobs of which dumps of ranks without a fault are lost, and ranks of which they are.
_LOSES: Final = 0.4
_LOST_RANKS: Final = 2


@dataclass(frozen=True, slots=True)
class Hang:
    """Dumps of a job, and what is true of it.

    Attributes:
        kind: What went wrong.
        layout: How the ranks are laid out.
        dumps: By rank, what it dumped; ranks without one left none.
        blamed: Ranks to blame; none in a healthy job.
        is_json: Whether the dumps are documents rather than pickles.
    """

    kind: Kind
    layout: Layout
    dumps: dict[int, dict[str, Any]]
    blamed: tuple[int, ...]
    is_json: bool

    def files(self) -> dict[str, bytes]:
        """Return the dumps as files, by name."""
        return {
            f"nccl_trace_rank_{rank}": _as_json(dump)
            if self.is_json
            else pickle.dumps(dump, 2)
            for rank, dump in self.dumps.items()
        }


def drawn_hang(
    kind: Kind,
    seed: int,
    layout: Layout | None = None,
    started_ns: int = STARTED_NS,
    *,
    batches: bool = False,
) -> Hang:
    """Return the dumps of a job.

    Args:
        kind: What goes wrong: one of HANGS; `gpu_error`: a GPU whose last operations
            are not seen to end; `gpu_stuck`: one that stops while its host goes on;
            `second_fault`: two of them, whose hosts stop, too; `node_dead`: four ranks;
            `finished`, `moments`: healthy, dumped at the end or one after the other.
        seed: Seed of every draw.
        layout: How the ranks are laid out; drawn where None.
        started_ns: When the programs start.
        batches: Whether sends and receives are asked for in batches.
    """
    draws = random.Random(f"hang {kind} {seed}")  # noqa: S311 - no secret depends on it
    layout = layout or _layout(kind, draws)
    programs, steps = Programs(layout), 12 if kind == "moments" else 2
    ranks = [_rank(n, programs, steps, draws) for n in range(layout.ranks)]
    fault = break_ranks(kind, ranks, draws)
    Machine(ranks, layout.groups(), draws).run()
    recorder, groups = _recorder(layout, draws, started_ns), layout.groups()
    recorder = replace(recorder, batches=batches)
    lost = _lost(fault, ranks, draws)
    dumps: dict[int, dict[str, Any]] = {}
    for rank in ranks:
        if rank.number not in lost:
            until_ns = _moment(rank, draws) if kind == "moments" else None
            recorded = fault.recorded.get(rank.number)
            seen = Seen(rank, recorder, until_ns, recorded)
            ours = [group for group in groups if rank.number in group.members]
            dumps[rank.number] = dump_of(seen, ours, draws)
    return Hang(kind, layout, dumps, fault.ranks, is_json=draws.random() < 0.2)  # noqa: PLR2004


def write_hang(hang: Hang, folder: Path) -> None:
    """Write the dumps of a job, a file for each rank."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in hang.files().items():
        (folder / name).write_bytes(data)


def _layout(kind: Kind, draws: random.Random) -> Layout:
    """Draw a layout; where several ranks are to blame, so large that most are not."""
    layout = drawn_layout(draws)
    while kind in {"node_dead", "second_fault"} and layout.ranks <= 2 * NODE_RANKS:
        layout = drawn_layout(draws)
    return layout


def _rank(number: int, programs: Programs, steps: int, draws: random.Random) -> Rank:
    program = programs.program(number, steps)
    ahead = draws.randint(0, 25)
    return Rank(number, program, ahead, asks=len(program), does=len(program))


def _recorder(layout: Layout, draws: random.Random, started_ns: int) -> Recorder:
    return Recorder(
        version=draws.choice(_VERSIONS),
        size=draws.choice((30, 100, 500, 2000)),
        only_active=draws.random() < 0.3,  # noqa: PLR2004 - three in ten
        with_timing=draws.random() < 0.3,  # noqa: PLR2004 - three in ten
        bases={group.name: draws.randrange(50_000) for group in layout.groups()},
        started_ns=started_ns,
    )


def _lost(fault: Fault, ranks: Sequence[Rank], draws: random.Random) -> set[int]:
    """Return ranks without a dump: dead ones, and some of whom others still tell.

    Where the only rank that waits for the fault leaves no dump, nothing leads to it.
    """
    if fault.kind == "node_dead":
        return set(fault.ranks)
    lost = set(fault.ranks) if fault.kind == "rank_dead" else set()
    places = Counter(operation.group for r in ranks if (operation := r.operation))
    told = [
        rank.number
        for rank in ranks
        if (operation := rank.operation)
        and operation.peer is None
        and places[operation.group] > _LOST_RANKS
        and rank.number not in fault.ranks
    ]
    if draws.random() < _LOSES and told:
        lost.update(draws.sample(told, min(len(told), draws.randint(1, _LOST_RANKS))))
    return lost


def _moment(rank: Rank, draws: random.Random) -> int:
    return int(max(rank.ended_ns.values()) * draws.uniform(0.1, 0.95))


def _as_json(dump: dict[str, Any]) -> bytes:
    """Return a dump as JSON mode writes it: unknown times as 0, counts as texts."""
    text = json.loads(json.dumps(dump))
    for entry in text["entries"]:
        for name in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[name] = entry[name] or 0
    for status in text["pg_status"].values():
        status.update({name: str(number) for name, number in status.items()})
    if not text["entries"]:
        del text["entries"]
    return json.dumps(text, sort_keys=True).encode()
