"""Answers to what-if questions: rows with their price, and what they rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis import Frames
from analysis._repairs import Repair
from analysis._repairs_grammar import shown
from analysis.runs import Runs
from analysis.whatif import INPUTS, WhatIf, answer_fixes
from ingest.errors import LakeError, SettingError
from ingest.lake import Snapshot, snapshot
from ingest.tables import RunCards, Table
from pipeline import checking
from pipeline._repair_evidence import why_no_answer, why_no_run, why_none_weighed
from pipeline._repair_rows import priced, text_of
from pipeline.analyzing import refuse_unknown
from pipeline.reporting import prices_of
from pipeline.settings import Settings
from reports.dollars import Price, price_of, rate_in_words

#: What each road takes for granted, in words.
ROADS: Final[Mapping[str, str]] = {
    "replay": "replay: operations start when what they wait for has ended, as in the"
    " trace; steps between traced ones are not counted",
    "order_statistics": "order_statistics: a step ends when its slowest rank ends;"
    " waits overlap no work, and communication takes as long as before",
    "waits": "waits: as order_statistics, with waits from traced collectives; steps"
    " between traced ones are not counted",
}

#: Runs that a message lists.
_MOST_RUNS: Final = 10


@dataclass(frozen=True, slots=True)
class Told:
    """Answers, and what they rest on.

    Attributes:
        rows: One row per repair and road, with its price.
        notes: Where prices came from, and what is taken for granted.
    """

    rows: pl.DataFrame
    notes: tuple[str, ...]


def answer(settings: Settings, repairs: Sequence[Repair], run_id: str | None) -> Told:
    """Answer what a run would take with repairs, or rank those that it suggests.

    Args:
        settings: The lake, the price and thresholds in force.
        repairs: What is repaired; none: what the last analysis suggests.
        run_id: The run; may be None where the lake has one.

    Raises:
        SettingError: If there is no such run, or the lake cannot tell a repair.
        LakeError: If there is no lake.
    """
    refuse_unknown(settings.thresholds)
    lake = snapshot(settings.lake)
    if not lake.generation:
        message = f"{settings.lake}: no lake there; ingest something first"
        raise LakeError(message)
    checking.scope_of(lake, run_id, None)
    if repairs:
        run = run_id if run_id is not None else _only_run(lake)
        rows = _asked(lake, settings, repairs, run)
    else:
        rows = _ranked(lake, run_id)
    runs = lake.scan(Runs).collect()
    prices = prices_of(lake.scan(RunCards).collect(), runs, settings)
    return Told(priced(rows, prices), _notes(rows, repairs, prices))


def as_text(told: Told) -> pl.DataFrame:
    """Return answers as a person reads them."""
    return text_of(told.rows)


def _only_run(lake: Snapshot) -> str:
    names = _names(lake.scan(Runs))
    told = _names(lake.scan(WhatIf).filter(WhatIf.method.col != "none"))
    for found in (told, names):
        if len(found) == 1:
            return found[0]
    if not names:
        message = f"{lake.root}: {why_no_run(lake)}"
        raise SettingError(message)
    listed = ", ".join(names[:_MOST_RUNS]) + (", ..." if names[_MOST_RUNS:] else "")
    message = f"--run-id: choose one, the lake has several runs: {listed}"
    raise SettingError(message)


def _names(rows: pl.LazyFrame) -> list[str]:
    return rows.select("run_id").unique().sort("run_id").collect()["run_id"].to_list()


def _asked(
    lake: Snapshot, settings: Settings, repairs: Sequence[Repair], run_id: str
) -> pl.DataFrame:
    frames = Frames({table: _of_run(lake, table, run_id) for table in INPUTS})
    rows, refused = answer_fixes(frames, run_id, repairs, settings.thresholds)
    for repair in repairs:
        if repair.text in refused:
            message = f"--fix {shown(repair.text)}: {refused[repair.text]}"
            raise SettingError(message)
    if rows.is_empty():
        message = f"run {run_id!r}: {why_no_answer(frames)}"
        raise SettingError(message)
    texts = dict.fromkeys(repair.text for repair in repairs)
    order = {text: place for place, text in enumerate(texts)}
    place = pl.col("repair").replace_strict(
        list(order), list(order.values()), default=len(order), return_dtype=pl.Int64
    )
    return rows.sort(place, "method")


def _of_run(lake: Snapshot, table: type[Table], run_id: str) -> pl.LazyFrame:
    frame = lake.scan(table)
    if "run_id" not in table.column_names():
        return frame
    return frame.filter(pl.col("run_id") == run_id)


def _ranked(lake: Snapshot, run_id: str | None) -> pl.DataFrame:
    every = lake.scan(WhatIf).collect()
    rows = every if run_id is None else every.filter(pl.col("run_id") == run_id)
    if rows.is_empty():
        whose = f"run {run_id!r}" if run_id is not None else f"{lake.root}"
        message = f"{whose}: {why_none_weighed(lake)}"
        raise SettingError(message)
    is_sure = pl.col("is_beyond_noise") & pl.col("is_reliable")
    is_worth = is_sure & ~pl.col("is_bound") & (pl.col("scope") != "everything")
    return rows.sort(
        pl.col("run_id"),
        is_worth,
        pl.col("saved_gpu_ns").cast(pl.Int128),
        pl.col("repair"),
        descending=[False, True, True, False],
        nulls_last=True,
    )


def _notes(
    rows: pl.DataFrame, repairs: Sequence[Repair], prices: Mapping[str, Price]
) -> tuple[str, ...]:
    runs = rows["run_id"].unique(maintain_order=True).to_list()
    notes = [f"{run}: {rate_in_words(price_of(prices, run))}" for run in runs]
    methods = rows["method"].unique().sort().to_list()
    notes += [ROADS[method] for method in methods if method in ROADS]
    if not repairs:
        return tuple(notes)
    told = (
        rows.filter(~pl.col("is_joint"))
        .select("repair", "assumption")
        .unique(maintain_order=True)
    )
    notes += [f"{repair}: {assumption}" for repair, assumption in told.iter_rows()]
    has_joint = rows["is_joint"].any()
    if len({repair.text for repair in repairs}) > 1 and not has_joint:
        notes.append("no road tells all of the repairs together")
    return tuple(notes)
