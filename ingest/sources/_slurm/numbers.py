"""Numbers in the JSON of Slurm: plain ones, and the objects of later schemas."""

from typing import Final

import msgspec

#: Numbers from here on stand for none and for infinite (NO_VAL, INFINITE).
NO_NUMBER: Final = 0xFFFF_FFF0

#: Digits that a number in text may have.
_DIGITS: Final = len(str(NO_NUMBER))


class Number(msgspec.Struct):
    """A number of the later schemas."""

    number: int | float | None = None
    set: bool | None = True
    infinite: bool | None = False


Told = int | float | str | Number | None
Words = str | list[str] | None


def number(told: Told) -> int | None:
    """Return a number, None where it says that there is none."""
    if isinstance(told, Number):
        told = told.number if told.set is not False and not told.infinite else None
    if isinstance(told, str):
        is_number = told.isascii() and told.isdigit() and len(told) <= _DIGITS
        told = int(told) if is_number else None
    if told is None or not 0 <= told < NO_NUMBER or told != int(told):
        return None
    return int(told)
