"""Every run that saves, the one with most to win first."""

from typing import Final

from reports import _sql
from reports._checkpoint_shown import DASH, Shown, every, per_day
from reports._numbers import duration, percent
from reports._runs import MOST_ROWS
from reports._section import Column, Listing, Scope
from reports._words import name, plural

_SQL: Final = """\
SELECT run_id, method, p.interval_ns, waste_ratio, saved_gpu_ns_per_day, mtbf_words
FROM checkpoint_plans AS p JOIN checkpoint_evidence AS e USING (run_id)
WHERE $runs AND method IN ('in_use', 'exact')
ORDER BY run_id, method"""


def listing(runs: list[Shown], scope: Scope) -> list[Listing]:
    """Return the table of runs; none for a single one, of which all else is said.

    Args:
        runs: Runs that save, in their order.
        scope: Runs of the page.
    """
    if len(runs) == 1:
        return []
    rest = len(runs) - MOST_ROWS
    return [
        Listing(
            title="Runs that save",
            columns=(
                Column("run"),
                Column("in use", "Work between two saves.", is_number=True),
                Column("best", "Work between two saves.", is_number=True),
                Column("stall", "Of one save.", is_number=True),
                Column("to win", "Share of the time.", is_number=True),
                Column("saved a day", is_number=True),
                Column("MTBF from"),
            ),
            rows=[_row(one, scope) for one in runs[:MOST_ROWS]],
            more=f"{plural(rest, 'more run', 'more runs')} by SQL." if rest > 0 else "",
            sql=_sql.filled(_SQL, runs=scope.sql()),
        )
    ]


def _row(one: Shown, scope: Scope) -> tuple[str, ...]:
    used, best = (one.plans.get(method) for method in ("in_use", "exact"))
    stall = one.run["stall_ns"]
    gain = None if one.withheld else one.gain_ratio
    saved = best["saved_gpu_ns_per_day"] if best and not one.withheld else None
    return (
        name(one.run_id, 30),
        every(used) if used else DASH,
        every(best) if best else DASH,
        DASH if stall is None else duration(stall),
        DASH if gain is None else percent(gain),
        per_day(saved, one.run_id, scope),
        one.run["mtbf_words"] or DASH,
    )
