"""Ranks that do what their programs say until none of them can go on."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ingest.synthetic._hang_layout import Group, Operation

#: Time of a transfer, and of the work between two of them. [ns]
_TRANSFER_NS: Final = 400_000
_WORK_NS: Final = 1_500_000

#: Time that the host takes to ask for one more operation. [ns]
_REQUEST_NS: Final = 30_000


@dataclass(slots=True)
class Rank:
    """A rank on its way through its program.

    Attributes:
        number: Global rank.
        program: What it asks for.
        ahead: Operations that its host may be ahead of its GPU.
        asks: Operations that its host ever asks for.
        does: Operations that its GPU ever does.
        at: Operation that its GPU stands at.
        asked_ns: By operation, when it was asked for. [ns]
        ended_ns: By operation, when it ended. [ns]
        now_ns: When its GPU came to where it stands. [ns]
    """

    number: int
    program: Sequence[Operation]
    ahead: int
    asks: int
    does: int
    at: int = 0
    asked_ns: list[int] = field(default_factory=list)
    ended_ns: dict[int, int] = field(default_factory=dict)
    now_ns: int = 0

    @property
    def operation(self) -> Operation | None:
        """What its GPU stands at, if its host has asked for it."""
        able = min(self.asks, self.does, len(self.program))
        return self.program[self.at] if self.at < able else None


class Machine:
    """All ranks of a job."""

    def __init__(
        self, ranks: Sequence[Rank], groups: Sequence[Group], draws: random.Random
    ) -> None:
        """Start all ranks at once.

        Args:
            ranks: Ranks by number.
            groups: Groups of the job.
            draws: How long each piece of work takes.
        """
        self.ranks = ranks
        self._members: Mapping[str, tuple[int, ...]] = {
            group.name: group.members for group in groups
        }
        self._draws = draws
        self._counts: list[Counter[str]] = [Counter() for _ in ranks]
        self._sent: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)

    def run(self) -> None:
        """Let all ranks go on until none can."""
        going = True
        while going:
            moved = [self._advance(number) for number in range(len(self.ranks))]
            going = any(moved)
        for rank in self.ranks:
            self._ask(rank, rank.at + rank.ahead)

    def _advance(self, number: int) -> bool:
        """Let a rank go on as far as it can alone, or with those that stand with it."""
        moved = False
        while self._step(number):
            moved = True
        return moved

    def _step(self, number: int) -> bool:
        operation = self.ranks[number].operation
        if operation is None:
            return False
        kinds: dict[str, Callable[[int, Operation], bool]] = {
            "send": self._send,
            "recv": self._receive,
        }
        return kinds.get(operation.kind, self._join)(number, operation)

    def _send(self, number: int, operation: Operation) -> bool:
        rank = self.ranks[number]
        pair = (number, operation.peer or 0)
        self._sent[pair].append((rank.at, rank.now_ns))
        self._pass(rank, rank.now_ns)
        return True

    def _receive(self, number: int, operation: Operation) -> bool:
        rank, sender = self.ranks[number], operation.peer or 0
        sent = self._sent[sender, number]
        if not sent:
            return False
        place, sent_ns = sent.pop(0)
        end_ns = max(rank.now_ns, sent_ns) + _TRANSFER_NS
        self.ranks[sender].ended_ns[place] = end_ns
        self._end(rank, end_ns)
        return True

    def _join(self, number: int, operation: Operation) -> bool:
        members = self._members[operation.group]
        count = self._counts[number][operation.group]
        for other in members:
            theirs = self.ranks[other].operation
            if theirs is None or not _fits(operation, theirs):
                return False
            if self._counts[other][operation.group] != count:
                return False
        end_ns = max(self.ranks[other].now_ns for other in members) + _TRANSFER_NS
        for other in members:
            self._counts[other][operation.group] += 1
            self._end(self.ranks[other], end_ns)
        return True

    def _end(self, rank: Rank, end_ns: int) -> None:
        rank.ended_ns[rank.at] = end_ns
        self._pass(rank, end_ns)

    def _pass(self, rank: Rank, end_ns: int) -> None:
        self._ask(rank, rank.at + rank.ahead)
        rank.at += 1
        rank.now_ns = end_ns + int(_WORK_NS * self._draws.uniform(0.8, 1.2))

    def _ask(self, rank: Rank, upto: int) -> None:
        last = min(max(upto, rank.at + 1), rank.asks, len(rank.program))
        for _ in range(len(rank.asked_ns), last):
            before = rank.asked_ns[-1] if rank.asked_ns else 0
            since = rank.now_ns if rank.asked_ns else 0
            rank.asked_ns.append(max(before + _REQUEST_NS, since - _WORK_NS))


def _fits(one: Operation, other: Operation) -> bool:
    """Whether two ranks mean the same collective; of an all-to-all sizes may differ."""
    alike = one.kind == "all_to_all" or one.elements == other.elements
    same = (one.kind, one.group, one.dtype) == (other.kind, other.group, other.dtype)
    return same and alike


def numbers_of(program: Sequence[Operation]) -> Iterator[tuple[int, bool]]:
    """Yield the number of each operation in its group, and whether it is of pairs."""
    counts: Counter[tuple[str, bool]] = Counter()
    for operation in program:
        is_pair = operation.peer is not None
        counts[operation.group, is_pair] += 1
        yield counts[operation.group, is_pair], is_pair
