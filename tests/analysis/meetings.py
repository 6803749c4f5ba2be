"""Groups that meet, on clocks that are ahead by so much."""

from typing import Any

from analysis.clock_offsets import ClockOffsets, find_clock_offsets
from tests.analysis.collectives import NO_ATTEMPTS, collectives, seen

AHEAD = 400_000


def met(
    count: int, ranks: dict[int, int], every: int = 10_000_000, **told: Any
) -> list[dict[str, Any]]:
    """A group meets so often; each rank's clock is ahead by so much. [ns]"""
    group = {"group_size": len(ranks), "group_id": str(sorted(ranks))}
    return [
        seen(
            rank,
            number * every + ahead,
            number * every + ahead + 100_000,
            **{"sequence": number, "host": f"node-{rank}"} | group | told,
        )
        for number in range(count)
        for rank, ahead in ranks.items()
    ]


def offsets(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    found = find_clock_offsets(collectives(*rows), NO_ATTEMPTS)
    assert ClockOffsets.is_valid(found)
    return found.to_dicts()
