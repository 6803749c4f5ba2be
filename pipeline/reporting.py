"""Write the report of a lake: its tables, its prices and where they came from."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

import reports
from analysis import ANALYSES, Frames
from analysis.runs import Runs
from ingest.errors import LakeError, SettingError
from ingest.known import display
from ingest.lake import Snapshot, snapshot
from ingest.retention import retired_days
from ingest.tables import RunCards, Table
from pipeline._heavy import heavy_as_rolled, rows_of
from pipeline._unfinished import unfinished
from pipeline.analyzing import known_thresholds, refuse_unknown
from pipeline.settings import Settings
from reports.dollars import Price
from reports.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Written:
    """A report: where it is, the sentence that it opens with, and what doubts it."""

    path: Path
    headline: str
    warnings: tuple[str, ...] = ()


def write_report(
    root: Path,
    settings: Settings,
    output: Path | None,
    run_id: str | None = None,
    compare: str | None = None,
) -> Written:
    """Write one self-contained HTML file.

    Args:
        root: The lake.
        settings: Price and thresholds in force.
        output: File to write; `report.html` in the lake where None.
        run_id: Run that the report is about; all runs where None.
        compare: What it is compared with: a run, a day, or the folder of a lake; the
            days before the last where None.

    Raises:
        SettingError: If there is no such run or baseline, or no file can have that
            name.
        LakeError: If there is no lake.
    """
    from pipeline import comparing
    from reports import page

    path = output if output is not None else root / "report.html"
    refuse_target(path)
    refuse_unknown(settings.thresholds)
    lake = snapshot(root)
    if not lake.generation:
        message = f"{root}: no lake there; ingest something first, or give --lake"
        raise LakeError(message)
    runs: pl.DataFrame = lake.scan(Runs).collect()
    if run_id is not None:
        runs = runs.filter(Runs.run_id.col == run_id)
        if runs.is_empty():
            raise SettingError(_no_such_run(run_id, lake))
    heavy = heavy_as_rolled(lake)
    shown = {table: rows_of(lake, table, heavy) for table in reports.INPUTS}
    frames = Frames({t: _of_run(frame, t, run_id) for t, frame in shown.items()})
    prices = prices_of(lake.scan(RunCards).collect(), runs, settings)
    provenance = provenance_of(root, settings, runs)
    baseline = (
        None
        if compare is None
        else comparing.baseline_of(compare, lake, provenance.run_ids)
    )
    replace(path, page.render(frames, prices, provenance, baseline))
    told = (frames, prices, provenance)
    warnings = (*unfinished(lake), *page.warnings(*told))
    return Written(path.resolve(), page.headline(*told), warnings)


def refuse_target(path: Path) -> None:
    """Refuse a name that no file can have.

    Raises:
        SettingError: If it is a folder's or a device's.
    """
    if path.exists() and not path.is_file():
        message = f"{path}: expected the name of a file, not a folder or a device"
        raise SettingError(message)


def replace(path: Path, text: str) -> None:
    """Write a file beside its place, and put it there once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.partial")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _of_run(
    frame: pl.LazyFrame, table: type[Table], run_id: str | None
) -> pl.LazyFrame:
    if run_id is None or "run_id" not in table.column_names():
        return frame
    column = pl.col("run_id")
    return frame.filter((column == run_id) | column.is_null())


def _no_such_run(run_id: str, lake: Snapshot) -> str:
    known = lake.scan(Runs).select(Runs.run_id.name).collect().to_series()
    names = ", ".join(known.sort().to_list()) or "none yet: ingest some telemetry first"
    return f"--run-id {run_id!r}: no such run in the lake; runs: {names}"


def prices_of(
    cards: pl.DataFrame, runs: pl.DataFrame, settings: Settings
) -> Mapping[str, Price]:
    """Return the price of each run with a card, and the fallback under no name.

    Args:
        cards: Rows of RunCards.
        runs: Rows of Runs that prices are for.
        settings: The fallback, and whether somebody set it.
    """
    is_set = "usd_per_gpu_hour" in settings.model_fields_set
    fallback = Price(
        settings.usd_per_gpu_hour, "setting" if is_set else "default", "rental"
    )
    mine = cards.filter(RunCards.run_id.col.is_in(runs[Runs.run_id.name].to_list()))
    prices = {row["run_id"]: _carded(row) for row in mine.iter_rows(named=True)}
    return {"": fallback} | {run: price for run, price in prices.items() if price}


def _carded(row: dict[str, Any]) -> Price | None:
    """Return the price on a run card; of GPUs that are owned, their capital cost."""
    is_owned = row["price_mode"] == "owned"
    capital = row["capex_usd_per_gpu_hour"] if is_owned else None
    usd = row["usd_per_gpu_hour"] if capital is None else capital
    if usd is None:
        return None
    kwh = row["usd_per_kwh"]
    return Price(
        usd_per_gpu_hour=Decimal(str(usd)),
        source="run card",
        mode="owned" if is_owned else "rental",
        usd_per_kwh=None if kwh is None else Decimal(str(kwh)),
        pue=Decimal(str(row["pue"] or 1)),
    )


def _said(value: object) -> str:
    if value is None or value == []:
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def provenance_of(root: Path, settings: Settings, runs: pl.DataFrame) -> Provenance:
    """Return what made a page about some runs.

    Args:
        root: The lake.
        settings: Settings in force.
        runs: Rows of Runs.
    """
    given = settings.model_fields_set
    values = settings.model_dump(mode="json", exclude={"thresholds"})
    return Provenance(
        run_ids=tuple(runs[Runs.run_id.name].sort()),
        lake=display(root.resolve()),
        generated_ns=time.time_ns(),
        version=version("gpuledger"),
        settings={name: _said(value) for name, value in values.items()},
        settings_sources={
            name: "set" if name in given else "default" for name in values
        },
        thresholds=known_thresholds() | settings.thresholds,
        analysis_versions={one.name: one.version for one in ANALYSES},
        retired_days=retired_days(snapshot(root).manifest),
    )
