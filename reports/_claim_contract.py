"""Until when to claim, and what contracts were read to say: not for the provider."""

from typing import Final

from reports._claim_facts import Facts
from reports._claim_parts import second
from reports._runs import NS_PER_DAY
from reports._words import plural

#: Windows as a third party read them in contracts of July 2026. They change, and only
#: the own contract counts.
WINDOWS: Final = (
    ("CoreWeave", "10 days, or the claim is forfeit"),
    ("Nebius", "14 days after the end of the month"),
    ("Crusoe", "30 days (reported)"),
    ("Voltage Park", "30 days, with log files or monitoring data"),
    ("Google Cloud", "60 days"),
    ("AWS", "end of the second billing cycle"),
    ("Azure", "2 months"),
)

_CHECK: Final = (
    "Check your contract: it alone says what counts as downtime, until when and how to"
    " claim. Of nine contracts of providers that a third party read in July 2026 none"
    " credits by itself: the customer brings logs with exact times. A GPU that is slow"
    " and can still be reached is usually not downtime. This is no legal advice."
)


def notes(facts: Facts, window_days: float, now_ns: int) -> tuple[str, ...]:
    """Return what is for who claims and not for the provider, a line each.

    None of it stands on the page, so that it cannot be sent by accident.

    Args:
        facts: The incident.
        window_days: Days from the first sign within which to claim. [d]
        now_ns: When the page is made. [ns]
    """
    windows = "; ".join(f"{provider}: {window}" for provider, window in WINDOWS)
    doubt = f"Before you send it: nothing here points at the provider, {facts.doubt}."
    return (
        *([doubt] if facts.doubt else []),
        heading(facts, window_days, now_ns),
        _CHECK,
        f"Windows as a third party read them in July 2026: {windows}.",
    )


def heading(facts: Facts, window_days: float, now_ns: int) -> str:
    """Return the date until which to claim, in words.

    Args:
        facts: The incident.
        window_days: Days from the first sign within which to claim. [d]
        now_ns: When the page is made. [ns]
    """
    days = f"{window_days:g} days (setting claim_window_days)"
    first = facts.incident["first_ns"]
    if first is None:
        return f"A window of {days} begins at a time that is not known."
    due = first + round(window_days * NS_PER_DAY)
    left = (due - now_ns) // NS_PER_DAY
    if due < now_ns:
        ago = plural((now_ns - due) // NS_PER_DAY, "day")
        return f"A window of {days} ended on {second(due)}, {ago} before this page."
    return (
        f"A window of {days} ends on {second(due)}, {plural(left, 'whole day')} after"
        " this page."
    )
