"""What can be claimed of a provider, as the page shows it."""

from collections.abc import Mapping
from typing import Any, Final

from reports import _sql, _stop_actions
from reports._claim_facts import CLAIMABLE
from reports._numbers import grouped
from reports._partly import partly
from reports._runs import MOST_ROWS, NS_PER_DAY
from reports._section import Column, Listing, Scope
from reports._stop_claims import WINDOW, Claims
from reports._stop_listing import ID_SHOWN, moment
from reports._words import listed, name, plural

_COLUMNS: Final = (
    Column("Incident", "gpuledger report --claim with these letters makes its page."),
    Column("First sign, UTC", is_held=True),
    Column("Node"),
    Column("Cause"),
    Column("GPU-hours", "Paid in all phases of the stops laid to it.", is_number=True),
    Column("USD", is_number=True),
    Column(
        "Claim until, UTC",
        "First sign and the days of the setting claim_window_days.",
        is_held=True,
    ),
)

_SQL: Final = """\
SELECT incident_id, any_value(c.host) AS host, any_value(c.first_ns) AS first_ns,
       CAST(sum(p.gpu_ns) AS DOUBLE) / 3.6e12 AS gpu_hours
FROM interruptions AS i JOIN incidents AS c USING (incident_id)
LEFT JOIN (SELECT run_id, attempt, stop, sum(gpu_ns) AS gpu_ns FROM loss_phases
           WHERE account IS NOT NULL GROUP BY ALL) AS p USING (run_id, attempt, stop)
WHERE NOT i.planned AND c.host_count > 0
  AND i.category IN ('hardware', 'network', 'facilities')
  AND ${runs}
GROUP BY incident_id ORDER BY first_ns DESC NULLS LAST, incident_id"""


def sentence(found: Claims, scope: Scope) -> str:
    """Say what can be claimed, and until when; nothing where there is nothing.

    Args:
        found: What `claims` returns.
        scope: The settings.
    """
    nodeless = (
        f" {plural(found.nodeless, 'more stop')} by such a cause named no node."
        if found.nodeless
        else ""
    )
    if not found.rows:
        return nodeless.strip()
    amount = f"{_hours(found)} GPU-hours, {_usd(found)} USD"
    told = (
        f"The provider's by their cause ({listed(CLAIMABLE)}, on a node that is named):"
        f" {plural(len(found.rows), 'incident')}, {amount}."
    )
    if found.still_open is None:
        return told + nodeless
    days = f"{float(scope.provenance.settings[WINDOW]):g} days (setting {WINDOW})"
    over = sum(one["due"] is not None for one in found.rows) - found.still_open
    return (
        f"{told} Within {days} of their first sign {found.still_open} can still be"
        f" claimed, for {over} that is over; your contract says which window counts."
        f"{nodeless}"
    )


def listings(found: Claims, scope: Scope) -> list[Listing]:
    """Return at most ten incidents that can be claimed, with the sum of all.

    Args:
        found: What `claims` returns.
        scope: Runs of the page.
    """
    if not found.rows:
        return []
    now_ns = scope.provenance.generated_ns
    more = len(found.rows) - MOST_ROWS
    return [
        Listing(
            title="What can be claimed of the provider: next to end first, then over",
            columns=_COLUMNS,
            rows=[_row(one, now_ns) for one in found.rows[:MOST_ROWS]],
            total=(
                f"all {grouped(len(found.rows))}",
                *("", "", ""),
                _hours(found),
                _usd(found),
                "",
            ),
            more=f"{plural(more, 'more incident')}, in the sum" if more > 0 else "",
            sql=_sql.filled(_SQL, runs=scope.sql()),
        )
    ]


def _hours(found: Claims) -> str:
    return partly(
        grouped(found.hours), has_known=found.hours > 0, is_whole=found.is_whole
    )


def _usd(found: Claims) -> str:
    return partly(grouped(found.usd), has_known=found.usd > 0, is_whole=found.is_whole)


def _row(one: Mapping[str, Any], now_ns: int) -> tuple[str, ...]:
    is_whole = not one["blank"]
    return (
        name(str(one["incident_id"]))[:ID_SHOWN],
        moment(one["first_ns"]),
        name(one["host"]) if one["host"] else plural(one["host_count"], "node"),
        name(_stop_actions.cause(one), 90),
        partly(grouped(one["hours"]), has_known=one["hours"] > 0, is_whole=is_whole),
        partly(grouped(one["usd"]), has_known=one["usd"] > 0, is_whole=is_whole),
        _until(one["due"], now_ns),
    )


def _until(due: int | None, now_ns: int) -> str:
    if due is None:
        return "not known"
    if due < now_ns:
        return f"{moment(due)}, over"
    return f"{moment(due)}, {plural((due - now_ns) // NS_PER_DAY, 'day')} left"
