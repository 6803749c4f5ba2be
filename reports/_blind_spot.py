"""Something that is not known."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """Something that is not known.

    Attributes:
        what: What is not known.
        how_much: How much of it there is.
        mend: What would tell.
    """

    what: str
    how_much: str
    mend: str
