"""Fill the result tables; what has not changed is skipped."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis import ANALYSES, Analysis, Frames
from ingest.errors import SettingError
from ingest.identity import identity_of
from ingest.lake import Snapshot, Writer, snapshot
from ingest.tables import RunCards, Table
from pipeline._work import RUN, Scope, Work
from pipeline.checking import wrong_layouts

#: Key of results that were filled for some runs only: never current.
PARTIAL_KEY: Final = "some runs"


@dataclass(frozen=True, slots=True)
class Analyzed:
    """What an analysis of the lake did.

    Attributes:
        computed: Analyses that were computed.
        skipped: Analyses whose inputs, version and thresholds were as before.
        refused: What of the lake could not be used, in words.
    """

    computed: tuple[str, ...]
    skipped: tuple[str, ...]
    refused: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The summary in words."""
        computed = ", ".join(self.computed) or "none"
        head = f"analyses computed: {computed}; unchanged: {len(self.skipped)}"
        return [head, *self.refused]


def analyze(
    writer: Writer,
    overrides: Mapping[str, float],
    scope: Scope = None,
    analyses: tuple[Analysis, ...] = ANALYSES,
) -> Analyzed:
    """Answer every question whose inputs have changed, in one commit.

    Args:
        writer: The lake, locked.
        overrides: Thresholds that were set, by name.
        scope: Runs whose rows are filled anew; None: all, where inputs have changed.
        analyses: Questions in their order.

    Raises:
        SettingError: If a threshold is unknown.
    """
    refuse_unknown(overrides, analyses)
    work = Work(snapshot(writer.root), writer.root, scope)
    wrong = wrong_layouts(work.before)
    if wrong:
        work.frames[RunCards] = _without_layouts(work.before, wrong)
        work.masked = wrong
    computed, skipped = [], []
    for analysis in analyses:
        thresholds = {
            name: overrides.get(name, default)
            for name, default in analysis.thresholds.items()
        }
        key = _result_key(analysis, thresholds, work)
        if scope is None and all(_is_current(work, t, key) for t in analysis.outputs):
            skipped.append(analysis.name)
            continue
        _compute(analysis, thresholds, PARTIAL_KEY if scope else key, work)
        computed.append(analysis.name)
    if work.parts:
        writer.commit_results(work.parts)
    return Analyzed(tuple(computed), tuple(skipped), tuple(wrong.values()))


def _without_layouts(lake: Snapshot, runs: Collection[str]) -> pl.LazyFrame:
    """Return the run cards, as if those of some runs said nothing of a layout."""
    is_wrong = pl.col(RUN).is_in(sorted(runs))
    axes = pl.col("tp", "cp", "pp", "dp", "ep", "vpp", "rank_order")
    return lake.scan(RunCards).with_columns(pl.when(~is_wrong).then(axes))


def _compute(
    analysis: Analysis, thresholds: Mapping[str, float], key: str, work: Work
) -> None:
    if not work.may_find(analysis):
        for table in analysis.outputs:
            work.keep(table, table.create_empty(), key)
        return
    inputs = {t: _within(work.frame_of(t), t, work.scope) for t in analysis.inputs}
    results = analysis.compute(Frames(inputs), thresholds)
    for table in analysis.outputs:
        work.keep(table, results[table], key)


def _within(frame: pl.LazyFrame, table: type[Table], scope: Scope) -> pl.LazyFrame:
    if scope is None or RUN not in table.column_names():
        return frame
    return frame.filter(pl.col(RUN).is_in(sorted(scope)) | pl.col(RUN).is_null())


def _result_key(analysis: Analysis, thresholds: Mapping[str, float], work: Work) -> str:
    inputs = {
        table.sql_name(): identity_of(work.parts_of(table))
        for table in analysis.inputs
    }
    schemas = {
        table.sql_name(): str(table.create_empty().schema) for table in analysis.outputs
    }
    masked = sorted(work.masked) if RunCards in analysis.inputs else []
    said = [analysis.name, analysis.version, dict(thresholds), inputs, schemas, masked]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _is_current(work: Work, table: type[Table], key: str) -> bool:
    parts = work.before.parts(table)
    return bool(parts) and all(part.result_key == key for part in parts)


def known_thresholds(analyses: tuple[Analysis, ...] = ANALYSES) -> dict[str, float]:
    """Return every threshold that may be set, with its default."""
    return {
        name: default
        for analysis in analyses
        for name, default in analysis.thresholds.items()
    }


def refuse_unknown(
    overrides: Mapping[str, float], analyses: tuple[Analysis, ...] = ANALYSES
) -> None:
    """Refuse a threshold that no analysis has.

    Raises:
        SettingError: With the names that there are.
    """
    known = known_thresholds(analyses)
    for name in overrides:
        if name not in known:
            message = (
                f"thresholds.{name}: unknown threshold; use one of"
                f" {', '.join(sorted(known))}"
            )
            raise SettingError(message)
