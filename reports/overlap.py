"""How much communication compute hides."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.hiding_costs import HidingCosts
from analysis.overlap import Overlap
from analysis.overlap_groups import OverlapGroups
from reports import _exposed_chart, _exposed_steps_chart, _overlap_chart
from reports._hiding_words import cost_of_hiding
from reports._numbers import duration, percent
from reports._overlap_words import both_in_words
from reports._runs import of_runs
from reports._section import Content, Scope, Section
from reports._words import plural

_LINKED_LOW: Final = 0.9


def build(frames: Frames, scope: Scope) -> Content:
    """Return what the traced GPUs did, and what of it was hidden."""
    whole = _whole(frames, scope)
    if whole.is_empty():
        return Content(
            heading="What GPUs did inside a step is not known.",
            empty="Profiler traces (Kineto JSON, as torch.profiler writes them) show"
            " compute, communication and idle time of every stream.",
        )
    groups = scope.of_runs(frames[OverlapGroups])
    kinds = _exposed_chart.shares(groups, _total(whole, "span_ns"))
    costs = scope.of_runs(frames[HidingCosts]).collect()
    return Content(
        heading=_heading(whole, kinds),
        paragraphs=[*_paragraphs(whole, scope), *cost_of_hiding(costs)],
        charts=[
            _overlap_chart.chart(whole, scope),
            *_exposed_chart.chart(kinds, whole.height, scope),
            *_exposed_steps_chart.chart(groups, scope),
        ],
    )


def _whole(frames: Frames, scope: Scope) -> pl.DataFrame:
    rows = scope.of_runs(frames[Overlap]).filter(Overlap.step.col.is_null())
    return rows.sort("run_id", "attempt", "rank", "trace_id", "device").collect()


def _total(whole: pl.DataFrame, column: str) -> int:
    return int(whole[column].cast(pl.Int128).sum())


def _heading(whole: pl.DataFrame, kinds: pl.DataFrame) -> str:
    span = _total(whole, "span_ns")
    exposed = _total(whole, "exposed_communication_ns")
    communication = _total(whole, "communication_ns")
    idle = percent(_total(whole, "idle_ns") / span) if span else "none"
    if not communication:
        return f"The traced GPUs did not communicate; they were idle for {idle}."
    hidden = percent(_total(whole, "overlapped_ns") / communication)
    most = _most_exposed(kinds)
    if most:
        return (
            f"{most} of the traced time, all communication for"
            f" {percent(exposed / span)}; compute hides {hidden} of communication, and"
            f" GPUs are idle for {idle}."
        )
    return (
        f"Compute hides {hidden} of communication; the rest exposes"
        f" {percent(exposed / span)} of the traced time, and GPUs are idle for {idle}."
    )


def _most_exposed(kinds: pl.DataFrame) -> str:
    """Return what is exposed most, and for how much; nothing where nothing is."""
    alone, beside, _ = _exposed_chart.PARTS
    for row in kinds.head(1).iter_rows(named=True):
        share = row[alone] + row[beside]
        what = both_in_words(row["parallel_kind"], row["kind"])
        if share:
            return f"{what[:1].upper()}{what[1:]} is exposed for {percent(share)}"
    return ""


def _paragraphs(whole: pl.DataFrame, scope: Scope) -> list[str]:
    traces, ranks = whole["trace_id"].n_unique(), whole["rank"].drop_nulls().n_unique()
    devices = whole.select("trace_id", "device").n_unique()
    who = f"{plural(traces, 'trace')} of {plural(ranks, 'rank')}"
    if not ranks:
        who = (
            f"{plural(devices, 'device')} of {plural(traces, 'trace')} (ranks not told)"
        )
    span = duration(_total(whole, "span_ns") / max(whole.height, 1))
    said = [
        (
            f"{who}{of_runs(whole['run_id'], scope)}, {span} each on average."
            " Nothing is extrapolated from them to GPUs or steps without a trace."
        )
    ]
    if _total(whole, "exposed_communication_ns"):
        said.append(
            "A kernel of communication also waits for ranks that come late: what is"
            " exposed is more than the transfer of data."
        )
    linked = whole["linked_ratio"].drop_nulls()
    if linked.len() and float(str(linked.min())) < _LINKED_LOW:
        said.append(
            f"In the worst trace only {percent(float(str(linked.min())))} of the work"
            " has its launch in the trace: steps begin and end there less sharply."
        )
    return said


SECTION: Final = Section(
    "overlap", "Hidden and exposed", (Overlap, OverlapGroups, HidingCosts), build
)
