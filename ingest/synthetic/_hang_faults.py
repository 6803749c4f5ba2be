"""Faults that make a job hang, and the ranks that are to blame."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from ingest.synthetic._hang_layout import Operation
from ingest.synthetic._hang_machine import Rank

Kind = Literal[
    "rank_dead",
    "rank_stuck",
    "wrong_collective",
    "wrong_size",
    "group_starved",
    "gpu_error",
    "gpu_stuck",
    "second_fault",
    "node_dead",
    "finished",
    "moments",
]

#: Hangs, by what began them.
HANGS: Final[tuple[Kind, ...]] = (
    "rank_dead",
    "rank_stuck",
    "wrong_collective",
    "wrong_size",
    "group_starved",
)

#: Part of the programs in which faults lie.
_FROM, _TO = 0.4, 0.9

#: Ranks of a node that dies.
NODE_RANKS: Final = 4

#: Kinds in which every rank has a message of the same size.
_EVEN: Final = ("all_reduce", "_all_gather_base", "_reduce_scatter_base")


@dataclass(slots=True)
class Fault:
    """What went wrong.

    Attributes:
        kind: What it is.
        ranks: Ranks to blame; none in a healthy job.
        recorded: By rank, operations whose end it still saw; of all others all.
    """

    kind: Kind
    ranks: tuple[int, ...]
    recorded: dict[int, int]


def break_ranks(kind: Kind, ranks: Sequence[Rank], draws: random.Random) -> Fault:
    """Break some of the ranks, before they start.

    Args:
        kind: What goes wrong.
        ranks: Ranks with their programs.
        draws: Where it goes wrong.
    """
    if kind in {"finished", "moments"}:
        return Fault(kind, (), {})
    if kind in {"second_fault", "node_dead"}:
        return Fault(kind, _SEVERAL[kind](ranks, draws), {})
    number = draws.randrange(len(ranks))
    rank = ranks[number]
    fault = Fault(kind, (number,), {})
    place = _place(kind, rank.program, draws)
    operation = rank.program[place]
    if kind in {"rank_dead", "rank_stuck"}:
        rank.asks = place
    elif kind == "gpu_stuck":
        rank.does = place
    elif kind == "gpu_error":
        rank.does = rank.asks = place
        fault.recorded[number] = place - draws.randint(2, 6)
    else:
        rank.program = _CHANGES[kind](rank.program, place, operation, draws)
    return fault


def _two_faults(ranks: Sequence[Rank], draws: random.Random) -> tuple[int, ...]:
    """Stop two GPUs, and their hosts soon after; all other hosts go on asking."""
    for rank in ranks:
        rank.ahead = len(rank.program)
    numbers = tuple(sorted(draws.sample(range(len(ranks)), 2)))
    for number in numbers:
        rank = ranks[number]
        rank.does = _place("second_fault", rank.program, draws)
        last = len(rank.program) - 1
        rank.asks = min(rank.does + draws.randint(1, 6), last)
    return numbers


def _dead_node(ranks: Sequence[Rank], draws: random.Random) -> tuple[int, ...]:
    """Stop all ranks of a node, each where it is."""
    first = draws.randrange(len(ranks) // NODE_RANKS) * NODE_RANKS
    numbers = tuple(range(first, first + NODE_RANKS))
    for number in numbers:
        rank = ranks[number]
        rank.asks = _place("node_dead", rank.program, draws)
    return numbers


_SEVERAL: Final[
    Mapping[Kind, Callable[[Sequence[Rank], random.Random], tuple[int, ...]]]
] = MappingProxyType({"second_fault": _two_faults, "node_dead": _dead_node})


def _place(kind: Kind, program: Sequence[Operation], draws: random.Random) -> int:
    places = range(int(_FROM * len(program)), int(_TO * len(program)))
    if kind in {"wrong_collective", "wrong_size"}:
        fitting = [n for n in places if program[n].kind in _EVEN]
    elif kind == "group_starved":
        sends = [n for n in places if program[n].kind == "send"]
        fitting = sends or [n for n in places if program[n].dtype == "Float"]
    else:
        fitting = list(places)
    return draws.choice(fitting or list(places))


def _another_kind(
    program: Sequence[Operation], place: int, was: Operation, draws: random.Random
) -> list[Operation]:
    kind = draws.choice([kind for kind in _EVEN if kind != was.kind])
    return [*program[:place], replace(was, kind=kind), *program[place + 1 :]]


def _another_size(
    program: Sequence[Operation], place: int, was: Operation, draws: random.Random
) -> list[Operation]:
    more = was.elements + draws.choice((16, was.elements))
    changed = replace(was, elements=more)
    if draws.random() < 0.25:  # noqa: PLR2004 - one in four
        changed = replace(was, dtype="Half" if was.dtype != "Half" else "Float")
    return [*program[:place], changed, *program[place + 1 :]]


def _left_out(
    program: Sequence[Operation], place: int, _: Operation, __: random.Random
) -> list[Operation]:
    return [*program[:place], *program[place + 1 :]]


_Change = Callable[
    [Sequence[Operation], int, Operation, random.Random], list[Operation]
]

_CHANGES: Final[Mapping[Kind, _Change]] = MappingProxyType(
    {
        "wrong_collective": _another_kind,
        "wrong_size": _another_size,
        "group_starved": _left_out,
    }
)
