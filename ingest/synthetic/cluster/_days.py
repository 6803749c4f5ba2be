"""UTC days of a time."""

from collections.abc import Iterator

from ingest.times import DAY_NS


def days_of(from_ns: int, to_ns: int, *cuts_ns: int) -> Iterator[tuple[int, int]]:
    """Yield the days of a time, the first and the last of them maybe not whole.

    Args:
        from_ns: Start of the time. [ns]
        to_ns: End of the time, not included. [ns]
        cuts_ns: Where it is cut, too. [ns]

    Yields:
        Start and end of each. [ns]
    """
    begin = from_ns
    while begin < to_ns:
        ends = [(begin // DAY_NS + 1) * DAY_NS, to_ns]
        end = min(one for one in (*ends, *cuts_ns) if one > begin)
        yield begin, end
        begin = end
