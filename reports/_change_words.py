"""Changes in words: shares in points, times as people say them, counts below five."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.interrupt_rates import FEW_EVENTS
from reports._numbers import THIN, compact, duration, percent, significant
from reports._words import name, said

_ARROW: Final = " \N{RIGHTWARDS ARROW} "

#: What measures are called that are no accounts.
_NAMES: Final = {
    "productive": "useful work",
    "step_time": "time of a step",
    "interruptions": "interruptions per 1000 node-days",
}


#: How verdicts are told that are no words.
VERDICTS: Final = {
    "same": "within noise",
    "little": "too little",
    "by_chance": "may be chance",
    "not_testable": "not testable",
}

#: Measures that are no accounts of the ledger.
NO_ACCOUNTS: Final = ("step_time", "interruptions", "slow")


@dataclass(frozen=True, slots=True)
class Words:
    """A change in words; empty where there is nothing to say."""

    before: str
    now: str
    change: str
    noise: str


def named(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return changes as parts of a sentence."""
    return [_sentence(row) for row in rows]


def _sentence(row: Mapping[str, Any]) -> str:
    if row["measure"] == "slow":
        return name(str(row["subject"]), 40)
    words = of(row)
    return f"{label(row)} {words.before}{_ARROW}{words.now}"


def label(row: Mapping[str, Any]) -> str:
    """Return what was measured."""
    measure, subject = str(row["measure"]), str(row["subject"])
    if measure == "slow":
        return f"slow {name(subject)}"
    if measure == "interruptions" and _is_few(row):
        return "interruptions"
    told = _NAMES.get(measure, said(measure))
    return f"{told} of {name(subject, 30)}" if subject else told


def of(row: Mapping[str, Any]) -> Words:
    """Return a row of `changes` in words."""
    measure = row["measure"]
    if measure == "slow":
        return Words(_slow(row["before"]), _slow(row["now"]), "", "")
    if measure == "step_time":
        return _time(row)
    if measure == "interruptions":
        return _stops(row)
    noise = row["noise"]
    return Words(
        percent(row["before"]),
        percent(row["now"]),
        points(row["change"]),
        "not known"
        if noise is None
        else f"\N{PLUS-MINUS SIGN}{points(noise, sign=False)}",
    )


def points(share: float, *, sign: bool = True) -> str:
    """Return a difference of shares in percentage points."""
    plus = "+" if sign and share > 0 else ""
    before = "\N{MINUS SIGN}" if share < 0 else plus
    return f"{before}{significant(abs(100 * share), 2)}{THIN}points"


def _either(noise: float | None, speak: Callable[[float], str]) -> str:
    return "not known" if noise is None else f"\N{PLUS-MINUS SIGN}{speak(noise)}"


def _slow(ratio: float | None) -> str:
    return "" if ratio is None else f"{percent(ratio)} slow"


def _time(row: Mapping[str, Any]) -> Words:
    noise, plus = row["noise"], "+" if row["change"] > 0 else ""
    return Words(
        duration(row["before"]),
        duration(row["now"]),
        f"{plus}{percent(row['change'] / row['before'])}",
        _either(noise, lambda known: percent(known / row["before"])),
    )


def _stops(row: Mapping[str, Any]) -> Words:
    if _is_few(row):
        return Words(
            _counted(row["before_count"], row["before"]),
            _counted(row["now_count"], row["now"]),
            "",
            f"p = {significant(row['p_value'], 2)}",
        )
    return Words(
        significant(row["before"]),
        significant(row["now"]),
        f"{significant(row['now'] / row['before'], 2)}\N{MULTIPLICATION SIGN}",
        f"p = {significant(row['p_value'], 2)}",
    )


def _counted(count: int, rate: float) -> str:
    """Return a count with the time in which it was counted, where that is known."""
    if not count:
        return "0"
    return f"{count} in {compact(1000 * count / rate)} node-days"


def _is_few(row: Mapping[str, Any]) -> bool:
    """Whether there are too few on a side to speak of a rate."""
    return min(row["before_count"] or 0, row["now_count"] or 0) < FEW_EVENTS
