"""Who waits for whom in collectives."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.clock_offsets import ClockOffsets
from analysis.collective_waits import CollectiveWaits
from analysis.late_ranks import LateRanks, WaitingEdges
from analysis.latency_anatomy import LatencyAnatomy
from reports import _clock_words, _held_up, _late_chart, _wait_charts, _wait_graph
from reports._group_words import group_in_words
from reports._numbers import duration, grouped, percent
from reports._runs import of_runs
from reports._section import Content, Scope, Section
from reports._words import plural

#: Collectives of which all ranks were seen, and no wait could be told.
_UNMATCHED: Final = (
    pl.col("wait_ns_total").is_null()
    & (pl.col("ranks_seen") >= pl.col("ranks_expected"))
    & pl.col("match_doubt").is_null()
).fill_null(value=False)


def build(frames: Frames, scope: Scope) -> Content:
    """Return where ranks wait, and who comes last."""
    waits = scope.of_runs(frames[CollectiveWaits])
    totals = _totals(waits)
    if not totals["collectives"]:
        return Content(
            heading="Who waits for whom in collectives is not known.",
            empty="Profiler traces of several ranks hold the arrivals of each rank.",
        )
    groups = _wait_charts.by_group(waits)
    axes = _axes(frames, scope)
    late = scope.of_runs(frames[LateRanks]).collect()
    clocks = scope.of_runs(frames[ClockOffsets]).collect()
    edges = scope.of_runs(frames[WaitingEdges])
    agreed = _clock_words.agreement(clocks)
    return Content(
        heading=" ".join([_heading(totals, groups, axes, late, scope), *agreed]),
        paragraphs=[
            *_held_up.sentence(late, edges.collect()),
            *_paragraphs(totals),
            *_clock_words.paragraphs(clocks),
        ],
        charts=[
            *_wait_graph.chart(edges, scope),
            *_wait_charts.chart(groups, axes, totals["collectives"], scope),
            *_late_chart.chart(late, scope),
        ],
    )


def _totals(waits: pl.LazyFrame) -> dict[str, int]:
    sums = waits.select(
        collectives=pl.len(),
        told=pl.col("wait_ns_total").count(),
        unmatched=_UNMATCHED.sum(),
        wait_ns=pl.col("wait_ns_total").cast(pl.Int128).sum(),
        complete=(pl.col("ranks_seen") >= pl.col("ranks_expected")).sum(),
        ordered=(pl.col("match_method") == "order").sum(),
        doubtful=pl.col("match_doubt").count(),
        residual_ns=pl.col("clock_residual_ns").median(),
        below=(pl.col("wait_ns_max") < pl.col("clock_residual_ns")).sum(),
    )
    row = sums.collect().row(0, named=True)
    return {key: int(value or 0) for key, value in row.items()}


def _axes(frames: Frames, scope: Scope) -> dict[str, str]:
    """Return what groups are for; nothing of one that is for several things."""
    rows = scope.of_runs(frames[LatencyAnatomy]).filter(
        (pl.col("scope") == "group") & pl.col("parallel_kind").is_not_null()
    )
    of_groups = rows.group_by("group_id").agg(pl.col("parallel_kind").unique())
    alone = of_groups.filter(pl.col("parallel_kind").list.len() == 1)
    found = alone.select("group_id", pl.col("parallel_kind").list.first())
    return dict(found.collect().iter_rows())


def _heading(
    totals: dict[str, int],
    groups: pl.DataFrame,
    axes: dict[str, str],
    late: pl.DataFrame,
    scope: Scope,
) -> str:
    waited = duration(totals["wait_ns"])
    if not totals["wait_ns"]:
        return (
            f"{plural(totals['collectives'], 'collective')} seen, and of none can a"
            " wait be told."
        )
    flagged = late.filter(pl.col("is_late")).sort("late_ns", descending=True)
    if flagged.height:
        first = flagged.row(0, named=True)
        behind = duration(first["late_ns"])
        more = flagged["rank"].n_unique() - 1
        beside = f", {plural(more, 'more rank')} by less" if more else ""
        return (
            f"Rank {first['rank']}{of_runs([first['run_id']], scope)} comes last beyond"
            f" chance, {behind} after the next-to-last in all{beside}; ranks waited"
            f" {waited} in {plural(totals['told'], 'collective')}."
        )
    most = _most(groups, axes)
    return (
        f"Ranks waited {waited} for the last to arrive, most of it in {most}; nobody"
        " comes last beyond chance."
    )


def _most(groups: pl.DataFrame, axes: dict[str, str]) -> str:
    """Return the group and kind that waited most."""
    if groups.is_empty():
        return "collectives"
    group, kind = groups.select("group_id", "kind").row(0)
    return group_in_words(group, axes.get(group), kind)


def _paragraphs(totals: dict[str, int]) -> list[str]:
    seen = totals["collectives"]
    told = [
        (
            f"{grouped(totals['complete'])} of {plural(seen, 'collective')} have all"
            " their ranks; a missing rank leaves one incomplete and never"
            " shifts the next."
        )
    ]
    told += _matching(totals)
    if totals["residual_ns"]:
        below = plural(totals["below"], "collective")
        told.append(
            "Clock residual, what times of one collective may be off once clocks are"
            f" corrected: {duration(totals['residual_ns'])} (median); {below} waited"
            " less than theirs, and a wait below it is no evidence."
        )
    return told


def _matching(totals: dict[str, int]) -> list[str]:
    """Return how ranks were brought together, and where that is in doubt."""
    told = []
    if totals["unmatched"]:
        told.append(
            f"{plural(totals['unmatched'], 'collective')} with all ranks could"
            " not be matched in time: ranks are of other times or of a host's clock, or"
            " wait for a root that no source names, or nothing connects their clocks."
        )
    if totals["ordered"]:
        share = percent(totals["ordered"] / totals["collectives"])
        told.append(f"{share} were matched by their order, for want of a number.")
    if totals["doubtful"]:
        told.append(
            f"{plural(totals['doubtful'], 'collective')} may be of several: ranks that"
            " were matched by order saw other sizes or numbers of them, or left before"
            " others came. No wait of theirs is told."
        )
    return told


SECTION: Final = Section(
    "collective_waits",
    "Waiting",
    (CollectiveWaits, LateRanks, WaitingEdges, ClockOffsets, LatencyAnatomy),
    build,
)
