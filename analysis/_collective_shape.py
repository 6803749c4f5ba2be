"""What a model of a collective is made of: links, ranks on nodes, and a line."""

from dataclasses import dataclass
from math import inf

from ingest.errors import SettingError


@dataclass(frozen=True, slots=True)
class Link:
    """What a GPU sends through.

    Attributes:
        round_ns: Time of a round without bytes. [ns]
        gbs: Bandwidth of one GPU, one way. [GB/s]
    """

    round_ns: float
    gbs: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Ranks of a group on its nodes, as many on each, and the links they have.

    Attributes:
        ranks: Ranks of the group. [1]
        nodes: Nodes that they are on. [1]
        inside: Link of a GPU inside its node.
        between: Link of a GPU to other nodes.
    """

    ranks: int
    nodes: int
    inside: Link
    between: Link

    def __post_init__(self) -> None:
        """Refuse ranks that do not spread evenly.

        Raises:
            SettingError: There is no rank, no node, or nodes hold unequal shares.
        """
        if self.ranks < 1 or self.nodes < 1 or self.ranks % self.nodes:
            message = f"{self.ranks} ranks do not spread evenly over {self.nodes} nodes"
            raise SettingError(message)

    @property
    def per_node(self) -> int:
        """Ranks on each node. [1]"""
        return self.ranks // self.nodes


def flat(ranks: int, link: Link) -> Layout:
    """Return ranks that reach each other through one kind of link."""
    return Layout(ranks, ranks, link, link)


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of a collective that runs through one kind of link.

    Attributes:
        rounds: Rounds one after the other. [1]
        wire_ratio: Bytes through a GPU's port for each byte of the message. [1]
        link: The link.
    """

    rounds: int
    wire_ratio: float
    link: Link


@dataclass(frozen=True, slots=True)
class Model:
    """A collective on paper: legs, of which bytes pass all or only the slowest.

    Attributes:
        name: Name of the algorithm.
        legs: Parts by link.
        pipelined: Whether bytes pass the legs at the same time.
    """

    name: str
    legs: tuple[Leg, ...]
    pipelined: bool

    @property
    def rounds(self) -> int:
        """Rounds of all legs. [1]"""
        return sum(leg.rounds for leg in self.legs)

    @property
    def fixed_ns(self) -> float:
        """Time without bytes: the latency floor. [ns]"""
        return sum(leg.rounds * leg.link.round_ns for leg in self.legs)

    @property
    def ns_per_byte(self) -> float:
        """Time that a byte of the message adds; a GB/s is a byte in a ns. [ns/B]"""
        legs = [leg.wire_ratio / leg.link.gbs for leg in self.legs if leg.wire_ratio]
        return (max if self.pipelined else sum)(legs or [0.0])

    @property
    def algbw_gbs(self) -> float:
        """Size over time of an endless message. [GB/s]"""
        return 1 / self.ns_per_byte if self.ns_per_byte else inf

    def time_ns(self, size_bytes: float) -> float:
        """Return the time of a message. [ns]

        Args:
            size_bytes: Size of the whole message. [B]
        """
        return self.fixed_ns + size_bytes * self.ns_per_byte
