"""Sums of which a part is not known: at least so much, and never none."""


def partly(words: str, *, has_known: bool, is_whole: bool) -> str:
    """Return a sum in words, as far as it is known.

    Args:
        words: The sum of what is known.
        has_known: Whether that is more than nothing.
        is_whole: Whether every part is known.
    """
    if is_whole:
        return words
    return f"at least {words}" if has_known else "not known"
