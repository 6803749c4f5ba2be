"""The waterfall from paid to productive."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from reports import _ledger, _ledger_shown, _sql
from reports._ledger import Account, Unit
from reports._ledger_shown import Shown
from reports._numbers import THIN, grouped
from reports._section import About, Chart, Scope
from reports._words import plural, said
from reports.dollars import price_sql
from reports.theme import MEANING_OF_ACCOUNT

_SQL: Final = """\
SELECT category, sum(gpu_ns) / $ns AS gpu_time,
       sum(gpu_ns::DOUBLE * $price) / 3.6e12 AS usd
FROM lost_time
${where}GROUP BY category
HAVING sum(gpu_ns) > 0
ORDER BY gpu_time DESC, category"""


_ABOUT: Final = About(
    definition="Each bar starts where the one above ends: paid minus all accounts is"
    " productive, to the nanosecond.",
    source="the ledger, see How each number is made",
    blind_spots="Accounts are times, not savings: repairs overlap, and a GPU that no"
    " longer waits for one may wait for the next.",
)


def chart(rows: pl.DataFrame, found: Sequence[Account], scope: Scope) -> Chart:
    """Return the waterfall.

    Args:
        rows: Rows of `_ledger.by_run`.
        found: Their accounts, productive first.
        scope: Runs and prices of the page.
    """
    from reports.charts import bars

    unit = _ledger.unit_for(_ledger.paid(found).gpu_ns)
    paid = _ledger_shown.together("paid", _ledger_shown.shown(found, unit))
    lost = sum(account.category != "productive" for account in found)
    return Chart(
        name="lost-time-waterfall",
        title=f"From paid to productive, in {unit.name} and dollars",
        summary=f"A waterfall: {paid.said_usd()} paid,"
        f" then {plural(lost, 'account')} that each take a part,"
        " then what is left as productive.",
        spec=bars.waterfall(_steps(found, unit), unit.title),
        numbers=_numbers(found, unit),
        sql=_sql.filled(
            _SQL,
            ns=f"{unit.ns:.1e}",
            price=price_sql(scope.prices),
            where=_sql.where(scope.sql()),
        ),
        about=_ABOUT,
        sample=f"{plural(rows['run_id'].n_unique(), 'run')}, every GPU paid for",
    )


def _steps(found: Sequence[Account], unit: Unit) -> pl.DataFrame:
    exact = _ledger_shown.shown(found, unit)
    paid = _ledger_shown.together("paid", exact)
    useful = [one for one in exact if one.category == "productive"]
    lost = [one for one in exact if one.category != "productive"]
    left = [paid.gpu_ns - sum(a.gpu_ns for a in lost[:i]) for i in range(len(lost))]
    bars = [_bar(paid, 0, unit)]
    bars += [
        _bar(one, end - one.gpu_ns, unit) for one, end in zip(lost, left, strict=True)
    ]
    bars += [_bar(one, 0, unit) for one in useful]
    return pl.DataFrame(bars)


def _bar(one: Shown, start_ns: int, unit: Unit) -> dict[str, str | float]:
    money = f"{grouped(one.usd)}{THIN}USD"
    return {
        "label": said(one.category),
        "meaning": MEANING_OF_ACCOUNT.get(one.category, "paid"),
        "start": float(unit.of(start_ns)),
        "end": float(unit.of(start_ns + one.gpu_ns)),
        "text": f"{grouped(one.time)}{THIN}{unit.letter} · {money}",
        "brief": money,
    }


def _numbers(found: Sequence[Account], unit: Unit) -> pl.DataFrame:
    ordered = sorted(found, key=lambda a: (-a.gpu_ns, a.category))
    return pl.DataFrame(
        {
            "category": [a.category for a in ordered],
            "gpu_time": [float(unit.of(a.gpu_ns)) for a in ordered],
            "usd": [float(a.usd) for a in ordered],
        }
    )
