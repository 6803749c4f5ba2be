"""Energy of runs and attempts, and of windows that programs measured themselves."""

from decimal import Decimal
from typing import Final

import polars as pl

from reports import _sql
from reports._energy_words import SUPPLY, footprint, joules
from reports._numbers import THIN, compact, percent, significant
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural, said
from reports.dollars import energy_dollars, in_words

_RUNS_SQL: Final = """\
SELECT run_id, attempt, level, energy_j, coverage_ratio, j_per_step, j_per_token,
       mean_w, peak_w, quality
FROM energy_runs
${where}ORDER BY run_id, level, attempt NULLS FIRST"""

_CHECKS_SQL: Final = """\
SELECT host, gpu_uuid, level, "window", start_ns, duration_ns, told_j, energy_j,
       difference_ratio, verdict, quality
FROM energy_checks
ORDER BY abs(difference_ratio) DESC NULLS LAST, level <> 'gpu_board', told_j DESC,
         gpu_uuid, "window\""""

_NOT_KNOWN: Final = "not known"


def runs(
    rows: pl.DataFrame, cards: dict[str, dict[str, object]], scope: Scope
) -> list[Listing]:
    """Return the energy of each run and attempt; nothing without rows.

    Args:
        rows: Rows of EnergyRuns.
        cards: Rows of RunCards by run.
        scope: Runs of the page, and their prices.
    """
    if rows.is_empty():
        return []
    is_whole = pl.col("attempt").is_null()
    ordered = rows.sort(~is_whole, "run_id", "level", "attempt")
    shown = ordered.head(MOST_ROWS)
    more = rows.height - shown.height
    return [
        Listing(
            title="Energy of each run and attempt",
            columns=_COLUMNS,
            rows=[
                _run(row, cards.get(str(row["run_id"])), scope)
                for row in shown.to_dicts()
            ],
            more=plural(more, "more row") if more else "",
            sql=_sql.filled(_RUNS_SQL, where=_sql.where(scope.sql())),
        )
    ]


_COLUMNS: Final = (
    Column("Run"),
    Column("Measured", "Level: GPU boards, modules, or the supply of nodes."),
    Column("Energy", "What was measured; nothing is assumed elsewhere.", True),
    Column("Coverage", "Share of the time of all GPUs (or nodes) held.", True),
    Column("A step", "Energy in kept steps over their number.", True),
    Column("A token", "The same over their tokens.", True),
    Column("Mean W", "Of one GPU (or node).", True),
    Column("Electricity", "Of owned GPUs only: rent contains it.", True),
    Column("kg CO\N{SUBSCRIPT TWO}e", "kWh x PUE x intensity of the region.", True),
    Column("Doubts"),
)


def _run(
    row: dict[str, object], card: dict[str, object] | None, scope: Scope
) -> tuple[str, ...]:
    run_id, energy = str(row["run_id"]), _number(row["energy_j"])
    attempt = row["attempt"]
    who = name(run_id, 24) + ("" if attempt is None else f", attempt {attempt}")
    cost = None if energy is None else energy_dollars(energy, scope.price(run_id))
    carbon = None if energy is None else footprint(energy, card).carbon_kg
    supply = " (holds its GPUs)" if row["level"] == SUPPLY else ""
    return (
        who,
        f"{said(str(row['level']))}{supply}",
        _joules(energy),
        percent(float(str(row["coverage_ratio"]))),
        _joules(row["j_per_step"]),
        _joules(row["j_per_token"]),
        compact(row["mean_w"]) if isinstance(row["mean_w"], float) else _NOT_KNOWN,
        "in the rent" if cost is None and _is_rent(run_id, scope) else _cost(cost),
        _NOT_KNOWN if carbon is None else significant(carbon),
        _doubts(row["quality"]),
    )


def _is_rent(run_id: str, scope: Scope) -> bool:
    return scope.price(run_id).mode == "rental"


def _cost(cost: Decimal | None) -> str:
    return "no price" if cost is None else in_words(cost)


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _joules(value: object) -> str:
    return joules(value) if isinstance(value, float) else _NOT_KNOWN


def _doubts(quality: object) -> str:
    doubts = [said(doubt) for doubt in str(quality or "").split(",") if doubt]
    return name(", ".join(doubts), 90) if doubts else "none"


def checks(rows: pl.DataFrame) -> list[Listing]:
    """Return windows that programs measured, beside ours; nothing without any.

    Args:
        rows: Rows of EnergyChecks.
    """
    if rows.is_empty():
        return []
    ordered = rows.sort(
        pl.col("difference_ratio").abs(),
        pl.col("level") != "gpu_board",
        "told_j",
        "gpu_uuid",
        "window",
        descending=[True, False, True, False, False],
        nulls_last=True,
    )
    shown = ordered.head(MOST_ROWS)
    more = rows.height - shown.height
    return [
        Listing(
            title="Energy that programs measured themselves, beside ours",
            columns=(
                Column("Window"),
                Column("Device"),
                Column("Length", "", True),
                Column("Told", "By Zeus, CodeCarbon or the like.", True),
                Column("Ours", "By samples of the same device and window.", True),
                Column("Difference", "Told over ours, less one.", True),
                Column("Verdict"),
                Column("Doubts"),
            ),
            rows=[_check(row) for row in shown.to_dicts()],
            more=plural(more, "more window") if more else "",
            sql=_CHECKS_SQL,
        )
    ]


def _check(row: dict[str, object]) -> tuple[str, ...]:
    where = [str(found) for found in (row["host"], row["gpu_uuid"]) if found]
    apart = row["difference_ratio"]
    seconds = int(str(row["duration_ns"])) / 1e9
    return (
        name(str(row["window"]), 34),
        f"{name(' '.join(where), 34)} ({said(str(row['level']))})",
        f"{significant(seconds)}{THIN}s",
        joules(float(str(row["told_j"]))),
        _joules(row["energy_j"]),
        percent(apart) if isinstance(apart, float) else _NOT_KNOWN,
        said(str(row["verdict"])),
        _doubts(row["quality"]),
    )
