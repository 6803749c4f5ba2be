"""Feeds of a data set from a seed, with faults that were planted and the truth of them.

A feed gives batches to replicas, step by step, out of one or more data sets that are
passed over again and again, in order or shuffled. A run that fails goes on from an
earlier step, and does the steps since then again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from random import Random
from typing import Any, Final, Literal, NamedTuple

#: Ways in which a feed goes wrong.
Kind = Literal[
    "given_twice", "left_out", "ranks_disagree", "restart_repeats", "restart_skips"
]

#: Tokens of a sample, and how many ways there are to cut it into documents.
_TOKENS: Final = 8_192
_KINDS: Final = 61


class Piece(NamedTuple):
    """Samples of a data set that follow each other, of one pass."""

    dataset: str
    epoch: int
    first: int
    after: int


class Fault(NamedTuple):
    """What goes wrong, in which step and replica; a restart's has neither."""

    kind: Kind
    step: int = 0
    replica: int = 0


@dataclass(frozen=True, slots=True)
class Feed:
    """What is read and by whom.

    Attributes:
        seed: Seed of every random draw.
        run_id: Run.
        replicas: Data-parallel replicas; each has a batch of its own in each step.
        tp: Tensor-parallel ranks that share the batch of a replica.
        steps: Steps that the run is meant to take.
        batch: Samples of a batch.
        datasets: Data sets with their sizes. [samples]
        shuffled: Whether each pass has an order of its own.
        failed_step: Step that the first attempt does not complete; None: it does all.
        resumed_step: Step that the second attempt begins with.
        faults: What goes wrong.
    """

    seed: int
    run_id: str = "feed"
    replicas: int = 8
    tp: int = 1
    steps: int = 40
    batch: int = 8
    datasets: tuple[tuple[str, int], ...] = (("web", 1_000_000),)
    shuffled: bool = False
    failed_step: int | None = None
    resumed_step: int = 0
    faults: tuple[Fault, ...] = ()

    def attempts(self) -> list[range]:
        """Return the steps of each attempt."""
        if self.failed_step is None:
            return [range(self.steps)]
        return [range(self.failed_step), range(self.resumed_step, self.steps)]

    def shift(self) -> int:
        """Return how many steps too far the second attempt reads. [1]"""
        kinds = {fault.kind for fault in self.faults}
        return ("restart_skips" in kinds) - ("restart_repeats" in kinds)


def batches(feed: Feed) -> list[list[Piece]]:
    """Return the batches of the feed without faults, in the order of replicas."""
    draw = Random(f"{feed.seed} order")  # noqa: S311 - no secret depends on it
    streams = [_samples(feed, name, size) for name, size in feed.datasets]
    count = (feed.steps + 1) * feed.replicas
    mixed = (draw.choice(streams) for _ in range(count))
    return [_pieces([next(stream) for _ in range(feed.batch)]) for stream in mixed]


def _samples(feed: Feed, name: str, size: int) -> Iterator[tuple[str, int, int]]:
    """Yield data set, pass and sample without an end."""
    epoch = 0
    while True:
        order: Any = range(size)
        if feed.shuffled:
            order = list(order)
            Random(f"{feed.seed} {name} {epoch}").shuffle(order)  # noqa: S311
        for sample in order:
            yield name, epoch, sample
        epoch += 1


def _pieces(samples: list[tuple[str, int, int]]) -> list[Piece]:
    """Return samples as runs of those that follow each other."""
    marked = enumerate(samples)
    runs = groupby(marked, key=lambda one: (one[1][:2], one[1][2] - one[0]))
    found = []
    for ((dataset, epoch), _), run in runs:
        kept = [sample for _, (_, _, sample) in run]
        found.append(Piece(dataset, epoch, kept[0], kept[-1] + 1))
    return found


def rows(feed: Feed) -> Iterator[dict[str, Any]]:
    """Yield the reads of every rank, as rows of data_reads."""
    given, lengths = batches(feed), _documents(feed)
    for attempt, steps in enumerate(feed.attempts()):
        for step in steps:
            first = (step + attempt * feed.shift()) * feed.replicas
            batch = given[first : first + feed.replicas]
            for rank in range(feed.replicas * feed.tp):
                told = {"run_id": feed.run_id, "attempt": attempt, "step": step}
                told |= {"rank": rank, "dp_rank": rank // feed.tp}
                for piece in _read(feed, step, rank, batch):
                    yield told | _told(piece, lengths[piece.first % len(lengths)])


def _read(feed: Feed, step: int, rank: int, batch: list[list[Piece]]) -> list[Piece]:
    """Return what a rank reads of the batches of a step."""
    replica, position = divmod(rank, feed.tp)
    first, *rest = batch[replica]
    wrong = {f.kind for f in feed.faults if (f.step, f.replica) == (step, replica)}
    if "given_twice" in wrong:
        return [first._replace(first=first.first - 1), *rest]
    if "left_out" in wrong:
        return [first._replace(first=first.first + 1), *rest]
    if "ranks_disagree" in wrong and position == feed.tp - 1:
        return batch[(replica + 1) % feed.replicas]
    return [first, *rest]


def _told(piece: Piece, lengths: list[int]) -> dict[str, Any]:
    samples = piece.after - piece.first
    return {
        "dataset": piece.dataset,
        "epoch": piece.epoch,
        "sample_from": piece.first,
        "sample_to": piece.after,
        "tokens": samples * sum(lengths),
        "tokens_squared": samples * sum(length * length for length in lengths),
        "longest_document": max(lengths),
    }


def _documents(feed: Feed) -> list[list[int]]:
    """Return the lengths of documents in a sample, some to choose from. [tokens]"""
    draw = Random(f"{feed.seed} documents")  # noqa: S311 - no secret depends on it
    cuts = [sorted(draw.sample(range(1, _TOKENS), 3)) for _ in range(_KINDS)]
    return [[b - a for a, b in pairwise([0, *cut, _TOKENS])] for cut in cuts]
