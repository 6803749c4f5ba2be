"""Seats that repairs are of, found among all of a run's or among those near them."""

import polars as pl
import pytest

from analysis._repairs_grammar import parse
from analysis._whatif_places import among, ranks_of
from tests.analysis.fleets import seats

SEEN = seats(
    32,
    lambda rank: {
        "host": f"node-{rank // 8}" if rank < 24 else None,
        "rack": f"rack-{rank // 16}",
        "gpu_uuid": f"GPU-{rank % 30}",
        "pp_rank": rank // 8,
        "dp_rank": rank % 8,
    },
)

TEXTS = {
    "rank=7": 1,
    "rank=3..5": 3,
    "rank=1,30": 2,
    "gpu=GPU-1": 2,
    "gpu=node-0 GPU-1": 1,
    "host=node-2": 8,
    "rack=rack-1": 16,
    "stage=2": 8,
    "stage=last": 8,
    "replica=5": 4,
}


@pytest.mark.parametrize("text", TEXTS)
def test_seats_near_a_repair_are_enough_to_find_it(text: str) -> None:
    repair = parse(text)
    found = ranks_of(repair, SEEN)
    assert isinstance(found, pl.DataFrame)
    assert found.height == TEXTS[text]
    near = SEEN.filter(among([repair, parse("rank=0")]))
    told = ranks_of(repair, near)
    assert isinstance(told, pl.DataFrame)
    assert told.equals(found)


def test_nothing_is_near_no_repair() -> None:
    assert SEEN.filter(among([])).is_empty()
