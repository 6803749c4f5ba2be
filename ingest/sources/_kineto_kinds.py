"""What kind of event a category means."""

from typing import Final

#: Kinds of events; the bytes that stand for them in a block.
OTHER, KERNEL, COPY, LAUNCH, HOST, WINDOW = range(6)

_KINDS: Final = (
    ("kernel", KERNEL),
    ("gpu_memcpy", COPY),
    ("gpu_memset", COPY),
    ("memcpy", COPY),
    ("memset", COPY),
    ("cpu_op", HOST),
    ("operator", HOST),
    ("user_annotation", HOST),
    ("trace", WINDOW),
)

#: Endings of the categories of calls that launch work (cuda_runtime, cuda_driver, ...).
_LAUNCHES: Final = ("runtime", "driver")

#: Categories and names that are remembered: traces have some ten and some thousand.
_REMEMBERED: Final = 65_536


class Kinds(dict[str, int]):
    """Kind of an event by its category, in any case; remembers what it has seen.

    A category alone makes work of a GPU: a host operation may carry a stream, too.
    """

    def __missing__(self, category: str) -> int:
        """Tell the kind of a category that was not met before."""
        lower = category.lower()
        kind = LAUNCH if lower.endswith(_LAUNCHES) else dict(_KINDS).get(lower, OTHER)
        if len(self) < _REMEMBERED:
            self[category] = kind
        return kind


def selector(*kinds: int) -> bytes:
    """Return a table for bytes.translate: 1 for some kinds, 0 for all others."""
    return bytes(code in kinds for code in range(256))
