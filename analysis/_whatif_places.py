"""Which ranks a repair is of, or what there is instead."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._repairs import LAST, Repair
from ingest.phrases import phrase

#: Names that a message lists.
_MOST_NAMES: Final = 10

#: Column of a seat that tells each sort of place, and its plural in words.
_NAMED: Final = {"host": "hosts", "rack": "racks"}
_NUMBERED: Final = {"stage": ("pp_rank", "stages"), "replica": ("dp_rank", "replicas")}

#: What a GPU may be called.
_OF_GPU: Final = (pl.col("gpu_uuid"), phrase("{} {}", "host", pl.col("gpu_uuid")))


def ranks_of(repair: Repair, seen: pl.DataFrame) -> pl.DataFrame | str:
    """Return the seats that a repair is of.

    Args:
        repair: A repair of a rank, GPU, host, rack, replica or stage.
        seen: The seats of a run: `attempt`, `rank`, `host`, `rack`, `gpu_uuid`,
            `pp_rank` and `dp_rank`.

    Returns:
        Those of the seats; or, where the run has none or not all, what it has.
    """
    if repair.kind == "rank":
        return _of_numbers(repair, seen)
    if repair.kind in _NUMBERED:
        return _of_group(repair, seen, *_NUMBERED[repair.kind])
    if repair.kind in _NAMED:
        return _of_name(repair, seen, [pl.col(repair.kind)], _NAMED[repair.kind])
    return _of_name(repair, seen, _OF_GPU, "GPUs")


def among(repairs: Sequence[Repair]) -> pl.Expr:
    """Return which seats some repairs may be of, without looking at all of them.

    Args:
        repairs: Repairs of ranks, GPUs, hosts, racks, replicas or stages.
    """
    return pl.any_horizontal(pl.lit(value=False), *(_is_at(one) for one in repairs))


def _is_at(repair: Repair) -> pl.Expr:
    if repair.kind == "rank":
        rank = pl.col("rank").cast(pl.Int64)
        return pl.any_horizontal(*(rank.is_between(*ends) for ends in repair.ranks))
    if repair.kind in _NUMBERED:
        number = pl.col(_NUMBERED[repair.kind][0])
        return number.is_not_null() if repair.name else number == repair.number
    if repair.kind in _NAMED:
        return pl.col(repair.kind) == repair.name
    return pl.any_horizontal(one == repair.name for one in _OF_GPU)


def _of_numbers(repair: Repair, seen: pl.DataFrame) -> pl.DataFrame | str:
    known = seen["rank"].unique().sort().cast(pl.Int64)
    asked = sum(last - first + 1 for first, last in repair.ranks)
    within = pl.any_horizontal(
        pl.lit(value=False),
        *(pl.col("rank").is_between(*ends) for ends in _clipped(repair, known)),
    )
    found = seen.filter(within)
    if found["rank"].n_unique() < asked:
        return f"the run has ranks {ranges(known)}"
    return found


def _clipped(repair: Repair, known: pl.Series) -> list[tuple[int, int]]:
    """Return the ranges up to the last rank: ends beyond it may leave 64 bits."""
    most = int(str(known.max())) if len(known) else -1
    return [(a, min(b, most)) for a, b in repair.ranks if a <= most]


def _of_group(
    repair: Repair, seen: pl.DataFrame, column: str, words: str
) -> pl.DataFrame | str:
    known = seen[column].drop_nulls().unique().sort()
    if known.is_empty():
        return f"no {words} are known: a run card with [layout] tells them"
    if repair.kind == "stage" and len(known) == 1:
        return "the run has one stage, and none to compare it with"
    number = known[-1] if repair.name == LAST else repair.number
    if number not in known:
        return f"the run has {words} {ranges(known)}"
    return seen.filter(pl.col(column) == number)


def _of_name(
    repair: Repair, seen: pl.DataFrame, names: Sequence[pl.Expr], words: str
) -> pl.DataFrame | str:
    found = seen.filter(pl.any_horizontal(one == repair.name for one in names))
    if found.height:
        return found
    first = seen.select(names[0]).to_series().drop_nulls().unique().sort()
    if first.is_empty():
        return f"no {words} are known: a host map tells them"
    return f"the run has {words} {listed(first.to_list())}"


def listed(names: Sequence[str]) -> str:
    """Return names as a message lists them, the rest as a count."""
    more = len(names) - _MOST_NAMES
    rest = f" and {more} more" if more > 0 else ""
    return f"{', '.join(names[:_MOST_NAMES])}{rest}"


def ranges(numbers: pl.Series) -> str:
    """Return numbers as ranges: 0-15, 20."""
    ordered = numbers.drop_nulls().unique().sort().cast(pl.Int64)
    told = pl.DataFrame({"n": ordered})
    spans = (
        told.group_by(pl.col("n") - pl.int_range(pl.len()), maintain_order=True)
        .agg(first=pl.col("n").min(), last=pl.col("n").max())
        .select("first", "last")
    )
    texts = [f"{a}" if a == b else f"{a}-{b}" for a, b in spans.iter_rows()]
    return listed(texts) if texts else "none"
