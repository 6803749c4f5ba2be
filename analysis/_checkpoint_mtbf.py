"""How often a run is interrupted: its own count, its card, or a published rate."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from analysis.poisson import NODE_DAYS, mean_interval, mtbf
from ingest.times import DAY_NS

#: From so many interruptions on a count says more than a rate of others (the same as
#: for rates: the interval of four spans a factor of nine).
FEW_EVENTS: Final = 5

#: Below this chance the run's own interruptions refute a rate of others. [1]
UNLIKELY: Final = 0.05

#: Interruptions of a job for 1000 node-days that are assumed where nothing is known:
#: Llama 3 on H100 (419 in 54 days of 2048 nodes, arXiv 2407.21783), with the rates of
#: Meta's two clusters (arXiv 2410.21680) as the range.
PUBLISHED_RATE: Final = 3.79
PUBLISHED_LOW: Final = 2.34
PUBLISHED_HIGH: Final = 6.50

#: From so many days on they are told whole. [1]
_MANY_DAYS: Final = 100

#: Greatest number of a column, with room for sums. [ns]
_GREATEST: Final = 2**62

#: Where a mean time between interruptions may be from, best first.
SOURCES: Final = ("own", "card_count", "card_rate", "own_weak", "published", "none")


class Spacing(NamedTuple):
    """Mean time between interruptions of a run, with its range. [ns]

    Attributes:
        source: One of SOURCES.
        mean_ns: The mean; None where it is not known.
        low_ns: Lower end.
        high_ns: Upper end; None where unbounded.
        words: What it was taken from.
    """

    source: str
    mean_ns: int | None
    low_ns: int | None
    high_ns: int | None
    words: str


def spacing_of(
    own: Mapping[str, Any] | None,
    card: Mapping[str, Any],
    nodes: float | None,
    few: float = FEW_EVENTS,
) -> Spacing:
    """Return the mean time between interruptions of a run from the best there is.

    Its own count where it is not too small; else what its card says, unless its own few
    refute that; else its own few; else a published rate for its nodes, by name, or the
    least that fits a card that saw none, where that is more.

    Args:
        own: Row of InterruptRates for the run's interruptions, if there is one.
        card: Fields of the run's card, null where it says nothing.
        nodes: Nodes of the run; None where they are not known.
        few: Below so many interruptions its own count is too small. [1]
    """
    count = own["count"] if own and own["mtbf_ns"] is not None else 0
    if own and count >= few:
        return _own("own", own)
    told = _by_card(card, nodes)
    if told and not (own and count and _is_refuted(own, told)):
        return told
    if own and count:
        beside = f"; they refute the {told.words}" if told else ""
        weak = _own("own_weak", own)
        return weak._replace(words=f"{weak.words}{beside}")
    return _none_seen(card, _published(nodes))


def _is_refuted(own: Mapping[str, Any], told: Spacing) -> bool:
    chance = chance_of(own, told)
    return chance is not None and chance < UNLIKELY


def _fits(told: Spacing) -> Spacing | None:
    """Return what a card says where a column holds it, else None."""
    ends = (told.mean_ns, told.low_ns, told.high_ns)
    return told if all(one is None or 0 < one < _GREATEST for one in ends) else None


def chance_of(own: Mapping[str, Any] | None, spacing: Spacing) -> float | None:
    """Return the chance of as many interruptions as a run had, or more. [1]

    Of as few or fewer, where it had fewer than the mean lets expect. None where the
    mean is the run's own, or nothing was seen of its time.

    Args:
        own: Row of InterruptRates for the run's interruptions, if there is one.
        spacing: The mean that is taken instead.
    """
    from scipy.special import pdtr, pdtrc

    if not own or not own["exposure_ns"] or spacing.source.startswith("own"):
        return None
    if not spacing.mean_ns:
        return None
    expected = float(own["exposure_ns"]) / spacing.mean_ns
    if own["count"] < expected:
        return float(pdtr(own["count"], expected))
    return float(pdtrc(own["count"] - 1, expected)) if own["count"] else 1.0


def _own(source: str, own: Mapping[str, Any]) -> Spacing:
    ends = [own[name] for name in ("mtbf_ns", "mtbf_low_ns", "mtbf_high_ns")]
    mean, low, high = (None if one is None else int(one) for one in ends)
    count = own["count"]
    weak = ": too few to rely on" if source == "own_weak" else ""
    seen = "interruption" if count == 1 else "interruptions"
    return Spacing(source, mean, low, high, f"{count} {seen} of this run{weak}")


def _by_card(card: Mapping[str, Any], nodes: float | None) -> Spacing | None:
    count = card.get("reliability_interruptions")
    days = card.get("reliability_observed_days")
    if count and days:
        seen = round(min(days * DAY_NS, float(_GREATEST)))
        told = mtbf(count, seen, mean_interval(count))
        words = f"run card: {count} in {days:g} days"
        ends = (told.mean_ns, told.low_ns, told.high_ns)
        return _fits(Spacing("card_count", *ends, words))
    rate = card.get("reliability_per_1000_node_days")
    if not rate or not nodes:
        return None
    mean = _of_nodes(nodes, rate)
    words = f"run card: {rate:g} per 1000 node-days"
    return _fits(Spacing("card_rate", mean, None, None, words))


def _none_seen(card: Mapping[str, Any], published: Spacing) -> Spacing:
    """Hold a published mean against a card that saw no interruption: at least so long.

    Args:
        card: Fields of the run's card.
        published: What is assumed where the card says nothing.
    """
    days = card.get("reliability_observed_days")
    if card.get("reliability_interruptions") != 0 or not days:
        return published
    seen = round(min(days * DAY_NS, float(_GREATEST)))
    low = mtbf(0, seen, mean_interval(0)).low_ns
    words = f"run card: none in {days:g} days, so {_days(low)} at least"
    if published.mean_ns is not None and published.mean_ns >= low:
        return published._replace(words=f"{published.words}; {words}")
    taken = _fits(Spacing("card_count", low, low, None, f"{words}, taken as the mean"))
    return taken or published


def _days(time_ns: int) -> str:
    days = time_ns / DAY_NS
    return f"{days:.0f} days" if days >= _MANY_DAYS else f"{days:.3g} days"


def _published(nodes: float | None) -> Spacing:
    if not nodes:
        return Spacing("none", None, None, None, "nodes of the run are not known")
    mean, low, high = (
        _of_nodes(nodes, rate)
        for rate in (PUBLISHED_RATE, PUBLISHED_HIGH, PUBLISHED_LOW)
    )
    words = (
        f"assumed: {PUBLISHED_RATE} per 1000 node-days as in Llama 3"
        f" (arXiv 2407.21783), range {PUBLISHED_LOW} to {PUBLISHED_HIGH:.2f}"
        " (arXiv 2410.21680)"
    )
    return Spacing("published", mean, low, high, words)


def _of_nodes(nodes: float, rate: float) -> int:
    return round(min(NODE_DAYS * DAY_NS / rate / nodes, float(_GREATEST)))
