"""What a plan is made of: rules that need numbers by name, and the sheet they fill."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, NamedTuple

from ingest.errors import SettingError

#: Digits of a number among the inputs of a line: more than any card is sure of. [1]
_DIGITS: Final = 10

_OUT_OF_RANGE: Final = "out of range, as an input is far too large or small: check"


class Known(NamedTuple):
    """A number or a word that lines are made of, and where it is from."""

    value: float | str
    source: str


class Told(NamedTuple):
    """What a rule gives where a number alone does not say enough.

    Attributes:
        value: The number; None where there is none.
        note: What limits it, or why there is none.
        formula: The rule's formula as it is for these inputs, where that differs.
    """

    value: float | None
    note: str
    formula: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one line of a plan is worked out.

    Attributes:
        section: Part of the plan that it belongs to.
        name: Name of the line, of which there is no second one.
        unit: Unit of its value; `1` where it has none.
        formula: The formula as a reader writes it, with the names of `needs`.
        needs: Names of the numbers that go into it, in order.
        compute: The formula.
        note: What limits the line, or who says so.
    """

    section: str
    name: str
    unit: str
    formula: str
    needs: tuple[str, ...]
    compute: Callable[..., float | Told] = field(repr=False)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plan; without a value its note says what is missing."""

    section: str
    name: str
    value: float | None
    unit: str
    formula: str
    inputs: str
    note: str | None


class Sheet:
    """Numbers by name, to which each rule adds its own."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        """Begin a sheet.

        Args:
            fields: What to write on a run card for a number, by its name.
        """
        self._fields = fields
        self._known: dict[str, Known] = {}
        self._missing: dict[str, tuple[str, ...]] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether a number is known."""
        return name in self._known

    def add(self, found: Mapping[str, Known]) -> None:
        """Add numbers, those that are not known yet."""
        self._known = {**found, **self._known}

    def fill(self, rules: Iterable[Rule]) -> None:
        """Work out numbers that nobody told, where all that they need is known."""
        for rule in rules:
            if rule.name not in self and all(need in self for need in rule.needs):
                told = _worked_out(rule, [self._known[need] for need in rule.needs])
                if told.value is not None:
                    self._known[rule.name] = Known(told.value, f"= {rule.formula}")

    def line(self, rule: Rule) -> Line:
        """Work out a line; its value is known to the rules after it."""
        missing = self._missing_of(rule)
        known = [(need, self._known[need]) for need in rule.needs if need in self]
        told = Told(None, f"not told: {', '.join(missing)}")
        if not missing:
            told = _worked_out(rule, [one for _, one in known])
        if told.value is None:
            self._missing[rule.name] = missing or (f"a value of {rule.name}",)
        else:
            self._known[rule.name] = Known(told.value, "this plan")
        inputs = "; ".join(_said(need, one) for need, one in known)
        limits = rule.note if told.value is not None else ""
        notes = "; ".join(note for note in (told.note, limits) if note)
        formula = told.formula or rule.formula
        head = (rule.section, rule.name, told.value, rule.unit, formula)
        return Line(*head, inputs, notes or None)

    def _missing_of(self, rule: Rule) -> tuple[str, ...]:
        lists = [
            self._missing.get(need) or (self._fields.get(need, need),)
            for need in rule.needs
            if need not in self
        ]
        return tuple(dict.fromkeys(path for paths in lists for path in paths))


def _worked_out(rule: Rule, inputs: list[Known]) -> Told:
    try:
        found = rule.compute(*[one.value for one in inputs])
        told = found if isinstance(found, Told) else Told(found, "")
        value = None if told.value is None else float(told.value)
    except SettingError as error:
        return Told(None, str(error))
    except (OverflowError, ZeroDivisionError):
        value, told = float("inf"), Told(None, "")
    if value is not None and not isfinite(value):
        paths = [one.source for one in inputs if one.source.startswith("card ")]
        said = ", ".join(path.removeprefix("card ") for path in paths) or "the card"
        return Told(None, f"{_OUT_OF_RANGE} {said}")
    return Told(value, told.note, told.formula)


def _said(name: str, one: Known) -> str:
    return f"{name} {number_text(one.value)} ({one.source})"


def number_text(value: float | str) -> str:
    """Return a number with all digits that matter, a word as it is."""
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < 10**_DIGITS:
        return f"{int(value)}"
    return f"{value:.{_DIGITS}g}"
