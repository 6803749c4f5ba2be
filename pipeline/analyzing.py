"""Fill the result tables; what has not changed is skipped."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis import ANALYSES, Analysis, Frames, Rollup
from ingest.errors import SettingError
from ingest.identity import identity_of
from ingest.lake import Snapshot, Writer, snapshot
from ingest.tables import RunCards, Table
from pipeline._day_by_day import in_force, in_turn, run_together
from pipeline._heavy import heavy_of, retired_owners
from pipeline._memory import trim
from pipeline._owners import ByDay
from pipeline._work import RUN, Scope, Work
from pipeline.checking import wrong_layouts

#: Key of results that were filled for some runs only: never current.
PARTIAL_KEY: Final = "some runs"

#: Whose rows are condensed by day where nobody said otherwise.
BY_DAY: Final = ByDay()


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
    analyses: Sequence[Analysis | Rollup] = ANALYSES,
    by_day: ByDay = BY_DAY,
) -> Analyzed:
    """Answer every question whose inputs have changed, in one commit.

    Args:
        writer: The lake, locked.
        overrides: Thresholds that were set, by name.
        scope: Runs whose rows are filled anew; None: all, where inputs have changed.
        analyses: Questions in their order.
        by_day: Whose rows are condensed by day before.

    Raises:
        SettingError: If a threshold is unknown.
    """
    refuse_unknown(overrides, analyses)
    before = snapshot(writer.root)
    heavy = heavy_of(before, analyses, by_day)
    work = Work(before, writer.root, scope, heavy=heavy, given=by_day.given)
    _tell(work, by_day)
    wrong = wrong_layouts(work.before)
    if wrong:
        work.frames[RunCards] = _without_layouts(work.before, wrong)
        work.masked = wrong
    computed: list[str] = []
    skipped: list[str] = []
    for rollups, analysis in in_turn(analyses):
        if analysis is None:
            planned = [(one, in_force(one, overrides)) for one in rollups]
            done = run_together(planned, work, writer, by_day)
            computed += [name for name, is_new in done.items() if is_new]
            skipped += [name for name, is_new in done.items() if not is_new]
            continue
        thresholds = in_force(analysis, overrides)
        key = _result_key(analysis, thresholds, work)
        if scope is None and all(_is_current(work, t, key) for t in analysis.outputs):
            skipped.append(analysis.name)
            continue
        _compute(analysis, thresholds, PARTIAL_KEY if scope else key, work)
        trim()
        computed.append(analysis.name)
    if work.parts:
        writer.commit_results(work.parts)
    return Analyzed(tuple(computed), tuple(skipped), tuple(wrong.values()))


def _tell(work: Work, by_day: ByDay) -> None:
    """Say whose rows are condensed by day, and why."""
    many = f"it has more than by_day_rows = {by_day.rows:,} rows"
    old = "old days of it are kept as rollups only"
    for table, heavy in work.heavy.items():
        short = by_day.owners.get(table, frozenset())
        short |= retired_owners(work.before, table, heavy.rollups)
        for owner in sorted(heavy.owners):
            by_day.say(
                f"{table.sql_name()} of {owner}: condensed by day, since"
                f" {old if owner in short else many}"
            )


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
    if analysis.portions:
        portions = analysis.portions(Frames(inputs), thresholds)
        work.keep_portions(analysis.outputs, portions, key)
        return
    results = analysis.compute(Frames(inputs), thresholds)
    for table in analysis.outputs:
        work.keep(table, results[table], key)


def _within(frame: pl.LazyFrame, table: type[Table], scope: Scope) -> pl.LazyFrame:
    if scope is None or RUN not in table.column_names():
        return frame
    return frame.filter(pl.col(RUN).is_in(sorted(scope)) | pl.col(RUN).is_null())


def _result_key(analysis: Analysis, thresholds: Mapping[str, float], work: Work) -> str:
    inputs = {
        table.sql_name(): identity_of(work.read_parts(table))
        for table in analysis.inputs
    }
    schemas = {
        table.sql_name(): str(table.create_empty().schema) for table in analysis.outputs
    }
    masked = sorted(work.masked) if RunCards in analysis.inputs else []
    said = [analysis.name, analysis.version, dict(thresholds), inputs, schemas, masked]
    heavy = [sorted(work.heavy[t].owners) for t in analysis.inputs if t in work.heavy]
    said += [heavy] if heavy else []
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _is_current(work: Work, table: type[Table], key: str) -> bool:
    parts = work.before.parts(table)
    return bool(parts) and all(part.result_key == key for part in parts)


def known_thresholds(
    analyses: Sequence[Analysis | Rollup] = ANALYSES,
) -> dict[str, float]:
    """Return every threshold that may be set, with its default."""
    return {
        name: default
        for analysis in analyses
        for name, default in analysis.thresholds.items()
    }


def refuse_unknown(
    overrides: Mapping[str, float], analyses: Sequence[Analysis | Rollup] = ANALYSES
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
