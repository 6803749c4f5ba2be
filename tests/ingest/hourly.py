"""A recorded log of steps: one at each hour, which takes half an hour."""

from typing import Final

#: 2023-11-14, 00:00 UTC. [ns]
T0: Final = 19_675 * 86_400 * 10**9
HOUR: Final = 3_600 * 10**9

HEADER: Final = "run_id,step,rank,start_ns,duration_ns\n"


def rows(count: int, rank: int = 0) -> str:
    """Lines of the first steps of a rank, without the header."""
    return "".join(
        f"r,{step},{rank},{T0 + step * HOUR},{HOUR // 2}\n" for step in range(count)
    )
