"""Records of torchtitan's structured logger, and the numbers in them."""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Annotated, Final

import msgspec

#: Milliseconds whose nanoseconds still fit an Int64, as a power of ten; 300 years.
_LARGEST_EXPONENT: Final = 12

#: Powers of ten from a millisecond to a nanosecond.
_NANO_PER_MILLI: Final = 6

_Rank = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Step = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Microseconds = Annotated[int, msgspec.Meta(ge=0, le=(2**63 - 1) // 1_000)]


class Event(msgspec.Struct, gc=False):
    """One line of the log, without the fields that nothing here needs."""

    time_us: _Microseconds
    log_type: str | None = None
    log_type_name: str | None = None
    event_name: str | None = None
    global_rank: _Rank | None = None
    rank: _Rank | None = None
    source: str | None = None
    task_name: str | None = None
    step: _Step | None = None
    step_tags: tuple[str, ...] | None = None
    value: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def process(self) -> tuple[int | None, str | None]:
        """Rank and source: together they name a process."""
        rank = self.rank if self.global_rank is None else self.global_rank
        return rank, self.source

    @property
    def time_ns(self) -> int:
        """Wall clock at which the line was written. [ns]"""
        return self.time_us * 1_000

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the step that the record was written in."""
        return self.step_tags or ()

    def since_ns(self, start: "Event") -> int | None:
        """Return how long a span took that ends here; None where that is unknown. [ns]

        Its value says so; without one it is the difference of the time stamps.
        """
        text = bytes(self.value).decode()
        if text != "null":
            return milliseconds_to_ns(text)
        difference = self.time_ns - start.time_ns
        return difference if difference >= 0 else None

    def number(self) -> float | None:
        """Return the value as a number; None where it is none."""
        try:
            return msgspec.json.decode(self.value, type=float)
        except msgspec.DecodeError:
            return None


def milliseconds_to_ns(text: str) -> int | None:
    """Return milliseconds, as they were written, to the nearest nanosecond. [ns]

    None where the text is no number, negative, or longer than an Int64 of ns.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    if not value.is_finite() or value < 0:
        return None
    if value and value.adjusted() > _LARGEST_EXPONENT:
        return None
    if value and value.adjusted() < -_NANO_PER_MILLI - 1:
        return 0
    return int(value.scaleb(_NANO_PER_MILLI).to_integral_value(ROUND_HALF_EVEN))
