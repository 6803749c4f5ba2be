"""Random draws that the seed and a name decide, whatever else was drawn before."""

from typing import Final
from zlib import crc32

import numpy as np

#: Steps whose draws come from one generator: any window of steps can be made alone.
BLOCK_STEPS: Final = 50


def number_of(*words: object) -> int:
    """Return the number by which the draws of one fault go."""
    return crc32(" ".join(map(str, words)).encode())


def draws(seed: int, name: str, *numbers: int) -> np.random.Generator:
    """Return the generator of one thing.

    Args:
        seed: Seed of the scenario.
        name: What is drawn.
        numbers: Which of these it is, such as an attempt and a block of steps.
    """
    entropy = (seed, crc32(name.encode()), *numbers)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))
