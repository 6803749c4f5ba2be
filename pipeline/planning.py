"""The run on paper: lines of a plan from a card, with prices and what was measured."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

import polars as pl

from analysis import Frames
from analysis.plans import INPUTS, Plans, plan_runs
from analysis.runs import Runs
from ingest import run_card
from ingest.errors import SettingError
from ingest.lake import snapshot
from ingest.tables import RunCards, Table
from pipeline.logs import harmless
from pipeline.reporting import prices_of
from pipeline.settings import Settings
from reports._numbers import THIN
from reports._plan_words import beside, priced
from reports.dollars import in_words as usd_in_words
from reports.dollars import price_of, rate_in_words

#: Columns of an answer, in order.
COLUMNS: Final = (
    *("section", "name", "value", "unit", "usd", "formula", "inputs"),
    *("measured", "measured_usd", "difference_ratio", "measured_from", "note"),
)

#: Greatest run card that is read: what a person writes is a thousand times smaller.
_MOST_BYTES: Final = 1 << 20

_DASH: Final = "-"

#: Columns of a terminal that a table fits. [characters]
_WIDTH: Final = 100

#: Blanks between columns of a table. [characters]
_BETWEEN: Final = 2

#: What a formula that was cut ends with.
_CUT: Final = "..."


@dataclass(frozen=True, slots=True)
class Told:
    """A plan, and what it rests on.

    Attributes:
        rows: One row per line, with its price.
        notes: Where the price came from, and whether the lake knows the run.
    """

    rows: pl.DataFrame
    notes: tuple[str, ...]


def answer(settings: Settings, path: Path) -> Told:
    """Work out the plan of a run card, beside what the lake has of its run.

    Args:
        settings: The lake, which need not be there, and the price in force.
        path: The run card.

    Raises:
        SettingError: If the file is not a run card.
    """
    card = run_card.parse(_content(path), path)
    run_id = card.run_id or path.resolve().parent.name or "run"
    row = run_card.row_of(card, run_id, settings.cluster or "none")
    schema = RunCards.create_empty().schema
    cards = pl.DataFrame([row | {"file_id": "card"}], schema=schema)
    measured = _frames(settings, run_id)
    plan = plan_runs(Frames({**measured, RunCards: cards.lazy()}))
    runs = cards.select(Runs.run_id.name)
    prices = prices_of(cards, runs, settings)
    rows = priced(plan.sort(Plans.number.name), prices).select(COLUMNS)
    price = rate_in_words(price_of(prices, run_id)).replace(THIN, " ")
    notes = (f"{run_id}: {price}", _about_lake(rows, settings, run_id))
    return Told(rows, notes)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file's name"
        message = f"{harmless(str(path))}: {reason}; give a run card, run.toml"
        raise SettingError(message) from error
    if len(content) > _MOST_BYTES:
        message = f"{path}: too large for a run card; give run.toml"
        raise SettingError(message)
    return content


def _frames(settings: Settings, run_id: str) -> dict[type[Table], pl.LazyFrame]:
    """Return what a lake has of a run; nothing where there is no lake."""
    lake = snapshot(settings.lake)
    if not lake.generation:
        return {}
    of_run = pl.col("run_id") == run_id
    return {table: lake.scan(table).filter(of_run) for table in INPUTS}


def _about_lake(rows: pl.DataFrame, settings: Settings, run_id: str) -> str:
    count = rows["measured"].drop_nulls().len()
    if count:
        return f"{settings.lake}: {count} of {rows.height} lines were measured, too"
    return f"{settings.lake}: nothing of run {run_id!r} there to lay beside the plan"


def as_text(told: Told) -> pl.DataFrame:
    """Return a plan as a person reads it, as wide as a terminal: a line for each.

    Names are those that formulas use. Inputs, and formulas in full, are in the other
    formats.
    """
    lines = [_line(row) for row in told.rows.to_dicts()]
    if not any(line["measured"] for line in lines):
        lines = [{k: v for k, v in line.items() if k != "measured"} for line in lines]
    *before, last = lines[0]
    taken = sum(
        max(len(name), *(len(line[name]) for line in lines)) + _BETWEEN
        for name in before
    )
    room = max(_WIDTH - taken, len(last))
    short = [line | {last: _cut(line[last], room)} for line in lines]
    return pl.DataFrame(short, schema=dict.fromkeys(short[0], pl.String))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - len(_CUT)].rstrip()}{_CUT}"


def _line(row: dict[str, object]) -> dict[str, str]:
    """Return a line; one without value says what it waits for in place of a formula."""
    value, found, apart = map(_plain, beside(row))
    usd = _usd(row["usd"])
    measured = "" if row["measured"] is None else f"{found} ({apart})"
    is_open = row["value"] is None and row["note"]
    return {
        "name": str(row["name"]),
        "value": value if usd == _DASH else f"{value}, {usd}",
        "measured": measured.removesuffix(f" ({_DASH})"),
        "formula": str(row["note"] if is_open else row["formula"]),
    }


def _usd(value: object) -> str:
    return _DASH if value is None else _plain(usd_in_words(Decimal(str(value))))


def _plain(text: str) -> str:
    """Return a text for terminals, whose fonts may lack thin spaces."""
    spaced = text.replace(THIN, " ").replace("\N{MINUS SIGN}", "-")
    return spaced.replace("\N{EN DASH}", _DASH)
