"""Text that is put together of columns."""

from itertools import chain, zip_longest
from typing import Final

import polars as pl

#: What stands for a part in a template.
_HOLE: Final = "{}"


def phrase(template: str, *parts: str | pl.Expr) -> pl.Expr:
    """Return a template with its parts in the place of `{}`; null where a part is.

    It stands for `pl.format`, which fails on frames whose first chunks are empty, as
    filters of lazy frames leave them (seen in Polars 2.1, its issue 25339).

    Args:
        template: Text with a `{}` for each part.
        parts: Names of columns, and expressions.

    Raises:
        ValueError: If there are more or fewer parts than places for them.
    """
    texts = template.split(_HOLE)
    if len(texts) != len(parts) + 1:
        message = f"{len(parts)} parts for {template!r}"
        raise ValueError(message)
    words = [pl.lit(text) if text else None for text in texts]
    pieces = chain.from_iterable(zip_longest(words, parts))
    return pl.concat_str([piece for piece in pieces if piece is not None])
