"""Groups of ranks, as a trace tells them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.phrases import phrase

#: Group of collectives of which a trace tells no group.
WORLD: Final = "world"


#: Members that are printed of a request before its group is set up.
_NO_MEMBERS: Final = "[]"


@dataclass(frozen=True, slots=True)
class Group:
    """The group that collectives are in which tell none.

    Attributes:
        group_id: Its identity.
        size: Its ranks, where they are known. [1]
        purpose: What it is for, as a description.
    """

    group_id: str
    size: int | None
    purpose: str | None

    def columns(self) -> dict[str, pl.Expr]:
        """Return the columns of groups, with this one where a row tells none."""
        lacks = group_id().is_null()
        return {
            "group_id": pl.coalesce(group_id(), pl.lit(self.group_id)),
            "group_size": pl.when(lacks)
            .then(pl.coalesce("group_size", pl.lit(self.size, pl.Int64)))
            .otherwise("group_size"),
            "group_purpose": pl.when(lacks)
            .then(pl.coalesce("group_purpose", pl.lit(self.purpose, pl.String)))
            .otherwise("group_purpose"),
        }


def group_id() -> pl.Expr:
    """Return the identity of a group: its name and members, null where both lack.

    PyTorch prints the first 30 members of a larger group and "...": then the size is
    part of the identity.
    """
    name = pl.col("group_name").fill_null("")
    members = _members()
    is_cut = members.str.contains("...", literal=True)
    size = pl.when(is_cut).then(phrase("x{}", pl.col("group_size").fill_null(0)))
    told = pl.concat_str(name, members, size, separator=":", ignore_nulls=True)
    return pl.when((name != "") | (members != "")).then(told)


def _members() -> pl.Expr:
    told = pl.col("group_ranks").fill_null("")
    return told.str.replace_all(" ", "", literal=True)


def fallback_group(told: Iterable[pl.DataFrame], world_size: int | None) -> Group:
    """Return the group of collectives that tell none.

    Where all others of the trace are in one group that is as large as the world, it is
    that one: the first kernels of a trace often lack what the later ones tell.

    Args:
        told: What tells the collectives of the trace.
        world_size: Ranks of the job, where the trace tells it. [1]
    """
    world = Group(WORLD, world_size, None)
    groups: set[tuple[str, int | None, str | None]] = set()
    for frame in told:
        rows = frame.filter(_members() != _NO_MEMBERS).select(
            group_id=group_id(), size="group_size", purpose="group_purpose"
        )
        groups |= set(rows.drop_nulls("group_id").unique().iter_rows())
        if len(groups) > 1:
            return world
    for name, size, purpose in groups:
        if world_size in {None, size}:
            return Group(name, size, purpose)
    return world
