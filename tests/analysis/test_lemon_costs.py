"""What a lemon cost is null where nobody knows, and says where it cost more."""

from decimal import Decimal

import pytest

from analysis.lemon_nodes import ANALYSIS, LemonNodes
from analysis.loss_phases import LossPhases
from ingest.times import DAY_NS
from tests.analysis.failing import ask, attempt, rows_of, tables, xid

STOP = {"run_id": "r", "attempt": 0, "stop": 0, "planned": False}


@pytest.mark.parametrize(
    ("days", "lost", "unknown"),
    [
        ({"hang": None, "requeue": 0, "start": None}, None, 1),
        ({"hang": None, "requeue": 3, "start": None}, 3, 1),
        ({"hang": 2, "requeue": 0, "start": 3}, 5, 0),
        ({"hang": 0, "requeue": 0, "start": 0}, 0, 0),
        ({}, None, 1),
    ],
)
def test_only_what_is_known_is_summed_up(
    days: dict[str, int | None], lost: int | None, unknown: int
) -> None:
    held = [
        attempt("r", 0, 0, 10, "a,b,c,d"),
        attempt("r", 1, 10.5, 20, "a,b,c,d", state="COMPLETED"),
    ]
    found = tables(held, [xid(79, 10, "a"), xid(79, 4, "b")])
    paid = {
        phase: None if took is None else Decimal(took * DAY_NS)
        for phase, took in days.items()
    }
    found[LossPhases] = rows_of(
        LossPhases,
        [
            STOP | {"phase": phase, "account": "restart", "gpu_ns": gpu_ns}
            for phase, gpu_ns in paid.items()
        ],
    )
    rows = ask(ANALYSIS, found)[LemonNodes]
    told = {row["host"]: row for row in rows.iter_rows(named=True)}
    assert told["a"]["interruptions"] == 1
    assert told["a"]["unknown_interruptions"] == unknown
    assert told["a"]["lost_gpu_ns"] == (None if lost is None else lost * DAY_NS)
    assert (told["b"]["lost_gpu_ns"], told["b"]["unknown_interruptions"]) == (0, 0)
