"""Repairs of places in a trace: ranks, hosts, stages, workers, links."""

from typing import Final

import polars as pl

from analysis import _whatif_effects as effects
from analysis._repairs import Repair
from analysis._whatif_claims import Claim
from analysis._whatif_fix import (
    CLOCKS,
    IDEAL_PLACES,
    OWN,
    USUAL,
    Fix,
    Trace,
    at_usual,
    ideal,
)
from analysis._whatif_links import of_link
from analysis._whatif_places import ranges, ranks_of
from analysis._whatif_replicas import replicas_gone
from analysis._whatif_workers import slowest_workers

#: What a rank is compared in: the same passes and transfers of a step and stage.
_ALIKE: Final = ("step", "pp_rank", "kind", "chunk")

_OWN_NS: Final = pl.col("own_ns")


def of_seats(repair: Repair, trace: Trace) -> Fix | str:
    """Return the repair of ranks: their operations at their peers' median."""
    found = ranks_of(repair, trace.seen)
    if isinstance(found, str):
        return found
    fewest = _fewest_peers(found, trace.seen)
    if not fewest:
        return "it has no peers to compare with in its stage"
    is_one = pl.col("rank").is_in(found["rank"].unique().implode())
    median = _OWN_NS.filter(~is_one).median().over(_ALIKE)
    said = "its operations are at the median of its peers in the same step and stage"
    claim = Claim(
        repair.kind,
        ranges(found["rank"]),
        said,
        peers=fewest,
        effect=effects.of_ranks(trace.replay, found),
    )
    return at_usual(is_one, median, claim)


def _fewest_peers(found: pl.DataFrame, seen: pl.DataFrame) -> int:
    """Return with how many others the least compared of some seats is compared. [1]"""
    others = seen.join(found, on="rank", how="anti").group_by("pp_rank")
    counts = others.agg(peers=pl.len().cast(pl.Int64))
    told = found.select("pp_rank").join(counts, on="pp_rank", how="left")
    return int(str(told["peers"].fill_null(0).min()))


def of_stage(repair: Repair, trace: Trace) -> Fix | str:
    """Return the repair of a stage: all its operations are ideal."""
    found = ranks_of(repair, trace.seen)
    if isinstance(found, str):
        return found
    stage = int(found["pp_rank"][0])
    effect = effects.of_stage(trace.replay, stage)
    claim = Claim("stage", ranges(found["rank"]), f"its {USUAL}", effect=effect)
    return ideal(pl.col("pp_rank") == stage, claim, IDEAL_PLACES)


def of_workers(_: Repair, trace: Trace) -> Fix | str:
    """Return the repair of the slowest workers: their operations are ideal."""
    workers = slowest_workers(trace.replay)
    place = pl.struct(pl.col("pp_rank", "dp_rank").cast(pl.Int64))
    places = workers.select(place.alias("place")).to_series().implode()
    found = trace.seen.filter(place.is_in(places))
    claim = Claim(
        "workers",
        ranges(found["rank"]),
        f"of the slowest 3 %, {USUAL}",
        effect=effects.of_ranks(trace.replay, found),
    )
    return ideal(place.is_in(places), claim, IDEAL_PLACES)


def of_transfers(repair: Repair, trace: Trace) -> Fix | str:
    """Return the repair of a link: its transfers at the median of other links."""
    found = of_link(repair.name, trace.replay.operations, trace.seen)
    if isinstance(found, str):
        return found
    is_one = pl.col("row").is_in(found.implode())
    usual = _OWN_NS.filter(~is_one).median().over("kind")
    said = "its transfers are at the median of those of their kind on other links"
    flaw = replicas_gone(trace)
    return at_usual(is_one, usual, Claim("link", "", said, flaw=flaw))


def of_clocks(_: Repair, trace: Trace) -> Fix | str:
    """Return the repair of throttled GPUs: their passes at the job's clock."""
    told = trace.clocks()
    if isinstance(told, str):
        return told
    mine = told.filter(pl.col("attempt") == trace.replay.attempt)
    slow = mine.join(trace.seen.select("rank"), on="rank", how="semi")
    if slow.is_empty():
        return "no GPU of the trace is throttled"
    ratio = pl.col("rank").replace_strict(
        slow["rank"], slow["clock_ratio"], default=1.0, return_dtype=pl.Float64
    )
    own = pl.when(pl.col("is_transfer")).then(OWN).otherwise(OWN * ratio)
    said = "passes of throttled GPUs scale with a clock at the job's median"
    return Fix(CLOCKS, own, Claim("clocks", ranges(slow["rank"]), said))
