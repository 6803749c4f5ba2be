"""Own work by rank and hour, of runs whose steps are condensed by day."""

import duckdb
import polars as pl

from analysis import Frames
from analysis.lost_time import LostTime
from analysis.rank_hours import RankHours
from analysis.step_rollups import StepRollups
from reports import _work_hours
from reports._section import Scope
from tests.reports.builder import HOUR, RUN, Row, framed

RANKS, WORK = 64, 1_000

#: Steps of each hour: a start stops after two, which take eleven times as long.
HOURS = ((0, 300), (300, 2), (302, 300), (602, 300))


def rank_hour(hour: int, rank: int) -> Row:
    """Work of a rank in an hour; rank 7 is a tenth slower in the third one."""
    first, steps = HOURS[hour]
    factor = 11.0 if steps == 2 else 1.1 if (hour, rank) == (2, 7) else 1.0
    return {
        "run_id": RUN,
        "attempt": int(hour >= 2),
        "hour_ns": hour * HOUR,
        "rank": rank,
        "steps": steps,
        "known_steps": steps,
        "first_step": first,
        "last_step": first + steps - 1,
        "typical_work_ns": round(WORK * factor),
    }


def frames() -> Frames:
    hours = [rank_hour(hour, rank) for hour in range(len(HOURS)) for rank in range(64)]
    steps: list[Row] = [
        {"run_id": RUN, "step": step, "scope": "rank", "ranks": RANKS}
        | {"typical_work_ns": WORK}
        for step in range(902)
    ]
    return framed({RankHours: hours, StepRollups: steps, LostTime: []})


def test_every_column_has_an_hour_and_a_short_one_none(scope: Scope) -> None:
    grid = _work_hours.grid(frames(), scope)
    assert grid is not None
    assert (grid.width, grid.height) == (300, 2)
    cells = _work_hours.cells(frames(), grid)
    assert cells.height == 32 * 3
    slow = cells.filter(pl.col("work_ratio") > 1.0).to_dicts()
    assert slow == [{"from_rank": 6, "from_step": 300, "work_ratio": 1.1}]


def test_sql_says_the_same(scope: Scope) -> None:
    told = frames()
    grid = _work_hours.grid(told, scope)
    assert grid is not None
    text = _work_hours.SQL.replace("$run", f"'{RUN}'")
    text = text.replace("$width", str(grid.width)).replace("$height", str(grid.height))
    with duckdb.connect() as connection:
        connection.register("rank_hours", told[RankHours].collect().to_arrow())
        rows = connection.execute(text).fetchall()
    assert rows == _work_hours.cells(told, grid).rows()
