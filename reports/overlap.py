"""How much communication compute hides."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.overlap import Overlap
from reports import _overlap_chart
from reports._numbers import duration, percent
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
    return Content(
        heading=_heading(whole),
        paragraphs=_paragraphs(whole),
        charts=[_overlap_chart.chart(whole, scope)],
    )


def _whole(frames: Frames, scope: Scope) -> pl.DataFrame:
    rows = scope.of_runs(frames[Overlap]).filter(Overlap.step.col.is_null())
    return rows.sort("run_id", "attempt", "rank", "trace_id", "device").collect()


def _total(whole: pl.DataFrame, column: str) -> int:
    return int(whole[column].cast(pl.Int128).sum())


def _heading(whole: pl.DataFrame) -> str:
    span = _total(whole, "span_ns")
    exposed = _total(whole, "exposed_communication_ns")
    communication = _total(whole, "communication_ns")
    idle = percent(_total(whole, "idle_ns") / span) if span else "none"
    if not communication:
        return f"The traced GPUs did not communicate; they were idle for {idle}."
    hidden = _total(whole, "overlapped_ns") / communication
    return (
        f"Compute hides {percent(hidden)} of communication; the rest exposes"
        f" {percent(exposed / span)} of the traced time, and GPUs are idle for {idle}."
    )


def _paragraphs(whole: pl.DataFrame) -> list[str]:
    traces, ranks = whole["trace_id"].n_unique(), whole["rank"].drop_nulls().n_unique()
    span = duration(_total(whole, "span_ns") / max(whole.height, 1))
    said = [
        (
            f"{plural(traces, 'trace')} of {plural(ranks, 'rank')},"
            f" {span} each on average."
            " Nothing is extrapolated from them to GPUs or steps without a trace."
        )
    ]
    linked = whole["linked_ratio"].drop_nulls()
    if linked.len() and float(str(linked.min())) < _LINKED_LOW:
        said.append(
            f"In the worst trace only {percent(float(str(linked.min())))} of the work"
            " has its launch in the trace: steps begin and end there less sharply."
        )
    return said


SECTION: Final = Section("overlap", "Hidden and exposed", (Overlap,), build)
