"""Repairs of kinds of operations in a trace, wherever they are."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from analysis._repairs import HIDDEN, Repair
from analysis._replay_kinds import DP_KINDS, EMBEDDING, GARBAGE, LAYERNORM, PEERS
from analysis._replay_passes import blocks_of, without_pauses
from analysis._replay_scenarios import Scenarios
from analysis._whatif_claims import NO_BOUND, Claim
from analysis._whatif_fix import GONE, LENGTHS, OWN, USUAL, Fix, Trace, gone, ideal
from analysis._whatif_lengths import balanced, why_not_lengths
from analysis._whatif_places import listed
from analysis._whatif_replicas import replicas_gone

#: Kinds of operations of each kind of parallelism that a trace tells apart.
_PARALLEL: Final[Mapping[str, tuple[str, ...]]] = {
    "dp": DP_KINDS,
    "pp": (*PEERS, EMBEDDING),
    "tp": (LAYERNORM,),
}

_KIND: Final = pl.col("kind").cast(pl.String)


def everything(_: Trace) -> Fix:
    """Return the repair of everything: all operations are ideal."""
    said = f"all {USUAL}, {NO_BOUND}"
    return ideal(pl.lit(value=True), Claim("everything", "", said))


def of_kind(repair: Repair, trace: Trace) -> Fix | str:
    """Return the repair of a kind of operation: all of it is ideal."""
    raw = pl.col("raw_kind").cast(pl.String)
    rows = trace.replay.operations
    kinds = rows.select(raw.unique().sort()).to_series().to_list()
    if repair.name not in kinds:
        return f"the trace has operations of kind {listed(kinds)}"
    of_one = rows.filter(raw == repair.name)
    flaw = replicas_gone(trace) if of_one["is_transfer"].any() else ""
    claim = Claim("kind", "", f"its {USUAL}", is_bound=True, flaw=flaw)
    return ideal(raw == repair.name, claim)


def of_communication(repair: Repair, trace: Trace) -> Fix | str:
    """Return the repair of transfers: they take no time, or only what is not hidden."""
    is_one = pl.col("is_transfer")
    if repair.name == HIDDEN:
        said = "transfers run beside the passes, each stream of them in turn"
        return gone(is_one, _transfers(said, trace), is_hidden=True)
    if repair.text == "communication":
        return gone(is_one, _transfers("transfers take no time", trace))
    present = set(trace.replay.operations.select(_KIND.unique()).to_series())
    told = [kind for kind, kinds in _PARALLEL.items() if present & set(kinds)]
    if repair.name not in told:
        return f"the trace tells communication of {listed(told) or 'no kind'}"
    said = f"transfers of {repair.name} take no time"
    return gone(_KIND.is_in(_PARALLEL[repair.name]), _transfers(said, trace))


def _transfers(said: str, trace: Trace) -> Claim:
    flaw = replicas_gone(trace)
    return Claim("communication", "", said, is_bound=True, flaw=flaw)


def of_garbage(_: Repair, trace: Trace) -> Fix | str:
    """Return the repair of the garbage collector: it makes no pauses.

    Pauses are operations of that kind, and passes forward that take at least 100 ms
    longer than is usual while their passes backward do not.
    """
    rows = trace.replay.operations
    scenarios = Scenarios.of(trace.replay)
    lengths, hit = without_pauses(scenarios, blocks_of(scenarios))
    is_pause = _KIND == GARBAGE
    if not hit.any() and not rows.select(is_pause.any()).item():
        return "the trace has no operations named gc, and no pass forward has a pause"
    usual = pl.lit(pl.Series(np.broadcast_to(lengths, hit.shape).reshape(-1)))
    shorter = pl.when(pl.lit(pl.Series(hit.reshape(-1)))).then(usual).otherwise(OWN)
    own = pl.when(is_pause).then(pl.lit(0, pl.Int64)).otherwise(shorter)
    said = "the garbage collector makes no pauses, and passes forward have none"
    return Fix(GONE, own, Claim("gc", "", said, is_bound=True))


def of_lengths(_: Repair, trace: Trace) -> Fix | str:
    """Return the repair of sequence lengths: micro-batches cost alike."""
    told = balanced(trace.replay.operations)
    if isinstance(told, str):
        return told
    said = (
        "what micro-batches have in common in all stages is evened out; each stage does"
        " as much in all"
    )
    doubt = why_not_lengths(trace.replay)
    return Fix(LENGTHS, pl.lit(told), Claim("sequence-lengths", "", said, doubt=doubt))
