"""Which ranks a hang began in, and who only waits."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from analysis import Frames
from analysis.hangs import Hangs, HangSuspects, HangWaits
from ingest.tables import GroupStatus
from reports import _hang_chart, _hang_listing
from reports._numbers import grouped, utc
from reports._section import Content, Scope, Section
from reports._words import listed, name, plural

#: The rule, as the page explains it.
RULE: Final = (
    "One rule for every hang: a rank stands at the oldest operation that it has not"
    " finished, and waits for the members of that group who do not stand there with it"
    " or who entered something else. Who waits is excused, unless others finished what"
    " it still has open, or unless it is one of at most four that asked for fewer"
    " collectives of a group than the rest: its host may have stopped, too. Following"
    " who waits for whom ends at ranks that wait for nobody else: those are the"
    " candidates. Ranks without a dump are candidates only where nothing else explains"
    " the wait, and then all of them; more than four candidates are counted and not"
    " named."
)

#: What candidates did, by the rule that found them.
_DID: Final[Mapping[str, str]] = {
    "never_entered": "never entered {op}",
    "stands_elsewhere": "asked for {op}, and did not reach it",
    "never_sent": "never sent what the next rank waits for",
    "never_received": "never took what another rank sends",
    "no_dump": "left no dump",
    "no_dump_either": "left no dump either",
    "asked_less": "asked for less than the rest",
    "other_kind": "entered another collective than the rest",
    "other_size": "entered {op} with another size than the rest",
    "other_dtype": "entered {op} with another number format than the rest",
    "finished_alone": "alone left {op}",
    "others_finished": "never finished {op}, which others did",
    "left_open": "{have} open what others finished with them",
    "not_started": "never started {op}, which others did",
    "stuck_together": "stand{s} at {op} with all others, and none finishes it",
    "dead": "{be} dead",
    "missing": "did not answer",
    "unresponsive": "did not respond",
    "behind": "{be} behind the others, poll after poll",
}

_ONE: Final = {"noun": "rank", "be": "is", "have": "has", "s": "s"}
_SEVERAL: Final = {"noun": "ranks", "be": "are", "have": "have", "s": ""}


def build(frames: Frames, scope: Scope) -> Content:
    """Return the ranks that a hang began in, and the graph of who waits for whom."""
    hangs = scope.of_runs(frames[Hangs]).collect()
    if hangs.is_empty():
        return _without(frames, scope)
    last = hangs.sort("last_ns", "run_id", "hang_id", nulls_last=False).row(
        -1, named=True
    )
    suspects = scope.of_runs(frames[HangSuspects]).collect()
    ours = _of(suspects, last).sort("position")
    waits = _of(scope.of_runs(frames[HangWaits]).collect(), last)
    return Content(
        heading=_heading(last, ours, hangs.height),
        paragraphs=[_seen(last), RULE],
        charts=_hang_chart.charts(last, ours, waits),
        listings=_hang_listing.listings(last, ours, hangs, scope),
    )


def _without(frames: Frames, scope: Scope) -> Content:
    dumps = scope.of_runs(frames[GroupStatus]).select(pl.col("dump_id").n_unique())
    count = int(dumps.collect().item())
    if not count:
        return Content(
            heading="Whether a rank hung is not known.",
            empty="Flight Recorder dumps of all ranks (nccl_trace_rank_*), or several"
            " polls of ncclras -f json, hold how far each rank got.",
        )
    return Content(
        heading=f"No hang: {plural(count, 'dump or poll', 'dumps or polls')}, and no"
        " rank waits for another that stands still.",
        paragraphs=[RULE],
    )


def _of(rows: pl.DataFrame, hang: Mapping[str, Any]) -> pl.DataFrame:
    same = [pl.col(key) == hang[key] for key in ("run_id", "attempt", "hang_id")]
    return rows.filter(*same)


def _heading(hang: Mapping[str, Any], suspects: pl.DataFrame, count: int) -> str:
    when = f" at {utc(hang['last_ns'])}" if hang["last_ns"] is not None else ""
    before = f"{grouped(count)} possible hangs; the last: run" if count > 1 else "Run"
    run = f"{before} {name(hang['run_id'], 30)}"
    named = suspects.filter("is_candidate")
    if named.is_empty():
        told = name(hang["verdict"], 160)
        return (
            f"{run} has operations open{when}, and where that began is not known:"
            f" {told}."
        )
    waiting = suspects.filter(pl.col("role") == "blocked").height
    waits = plural(waiting, "rank waits", "ranks wait")
    return f"{run} hung{when}: {_who(named)}; {waits}."


def _who(named: pl.DataFrame) -> str:
    """Return the candidates and what they did, those alike together."""
    told: dict[str, list[str]] = {}
    for row in named.sort("rank", "rank_in_group").to_dicts():
        told.setdefault(row["rule"], []).append(_hang_listing.rank_name(row))
    first = {row["rule"]: row for row in named.to_dicts()}
    parts = []
    for rule, ranks in told.items():
        forms = _ONE if len(ranks) == 1 else _SEVERAL
        did = name(rule, 60)
        if rule in _DID:
            did = _DID[rule].format(op=_hang_listing.operation(first[rule]), **forms)
        parts.append(f"{forms['noun']} {listed(ranks, 4)} {did}")
    return "; ".join(parts)


def _seen(hang: Mapping[str, Any]) -> str:
    seen, expected = grouped(hang["ranks_seen"]), grouped(hang["ranks_expected"])
    did = "answered the poll" if hang["source"] == "polls" else "left a dump"
    said = f"{seen} of {expected} ranks {did}"
    if hang["ranks_elsewhen"]:
        older = plural(hang["ranks_elsewhen"], "dump")
        said += f"; {older} older than what others finished, and not used"
    return f"{said}. {name(hang['verdict'][:1].upper() + hang['verdict'][1:], 400)}."


SECTION: Final = Section(
    "hangs", "Hangs", (Hangs, HangSuspects, HangWaits, GroupStatus), build
)
