"""How many made examples a property is held against."""

import os
from typing import Final

#: Examples in the default suite; they are the same ones every time.
FEW: Final = 12


def examples(most: int) -> int:
    """Return how many: all of them only with GPULEDGER_EXAMPLES=all.

    Args:
        most: Examples that the property is worth. [1]
    """
    return most if os.environ.get("GPULEDGER_EXAMPLES") == "all" else min(most, FEW)
