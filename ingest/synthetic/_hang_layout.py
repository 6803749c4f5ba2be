"""Ranks of a job that will hang, their groups, and what they do in a step."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

#: Descriptions of groups, as Megatron gives them.
_PURPOSES: Final = {
    "world": "default_pg",
    "dp": "DATA_PARALLEL_GROUP_WITH_CP",
    "mp": "MODEL_PARALLEL_GROUP",
    "tp": "TENSOR_MODEL_PARALLEL_GROUP",
    "pp": "PIPELINE_MODEL_PARALLEL_GROUP",
    "ep": "EXPERT_MODEL_PARALLEL_GROUP",
}


@dataclass(frozen=True, slots=True)
class Group:
    """A group of ranks; its name is the same on all of them."""

    name: str
    purpose: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """What a rank asks its GPU for.

    Attributes:
        kind: As PyTorch names it, `send` and `recv` among them.
        group: Name of the group.
        elements: Elements that go in.
        dtype: Their format.
        peer: The other side of a send or receive.
    """

    kind: str
    group: str
    elements: int
    dtype: str = "BFloat16"
    peer: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How ranks are laid out: tensor ranks next to each other, then data, then stages.

    Attributes:
        tp: Tensor-parallel ranks.
        dp: Data-parallel replicas.
        pp: Stages.
        ep: Expert-parallel ranks, along the data-parallel axis.
        layers: Layers of a stage.
        micro_batches: Micro-batches of a step.
        hidden: Elements of an activation.
    """

    tp: int
    dp: int
    pp: int
    ep: int
    layers: int
    micro_batches: int
    hidden: int

    @property
    def ranks(self) -> int:
        """Ranks of the job."""
        return self.tp * self.dp * self.pp

    def place(self, rank: int) -> tuple[int, int, int]:
        """Return the tensor, data and pipeline rank of a rank."""
        return rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)

    def rank(self, t: int, d: int, p: int) -> int:
        """Return the rank at a place."""
        return t + self.tp * (d + self.dp * p)

    def groups(self) -> list[Group]:
        """Return all groups in the order in which they are made."""
        found: list[Group] = []
        for axis, purpose in _PURPOSES.items():
            for members in sorted(set(self._axis(axis))):
                found.append(Group(str(len(found)), purpose, members))
        return found

    def _axis(self, axis: str) -> Iterator[tuple[int, ...]]:
        for rank in range(self.ranks):
            t, d, p = self.place(rank)
            first = d - d % self.ep
            of = {
                "world": [self.rank(*self.place(r)) for r in range(self.ranks)],
                "dp": [self.rank(t, other, p) for other in range(self.dp)],
                "tp": [self.rank(other, d, p) for other in range(self.tp)],
                "pp": [self.rank(t, d, other) for other in range(self.pp)],
                "ep": [self.rank(t, first + other, p) for other in range(self.ep)],
                "mp": sorted(
                    self.rank(x, d, y) for x in range(self.tp) for y in range(self.pp)
                ),
            }
            yield tuple(of[axis])


def drawn_layout(draws: random.Random) -> Layout:
    """Draw a layout of four to 32 ranks."""
    while True:
        tp, dp, pp = (
            draws.choice((1, 2, 4)),
            draws.choice((1, 2, 4)),
            draws.choice((1, 2, 4)),
        )
        ep = draws.choice([n for n in (1, 2) if n <= dp])
        if 4 <= tp * dp * pp <= 32:  # noqa: PLR2004 - bounds of the docstring
            layers, batches = draws.randint(1, 3), draws.randint(pp, pp + 4)
            return Layout(tp, dp, pp, ep, layers, batches, 1024 * draws.randint(1, 8))
