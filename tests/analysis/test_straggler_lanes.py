"""Arrays of steps by ranks give what rows do; drawn days are judged rightly."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import Frames, Results
from analysis._rollup import Bounds, Day
from analysis._straggler_day_general import compare_rows
from analysis._straggler_day_grid import Places
from analysis._straggler_day_pass import Ready, compare
from analysis._straggler_day_pieces import piece_of
from analysis._straggler_day_tiles import Sizes
from analysis.gpus import Gpus
from analysis.straggler_days import ROLLUP, StragglerDaysSpells
from tests.analysis.fleets import Times, healthy, seats, step_log

RANKS, STEPS, WINDOW = 1024, 14_400, 240

Drawn = npt.NDArray[np.float32]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 70), st.integers(1, 7), st.integers(0, 99))
def test_arrays_give_the_blocks_that_rows_do(
    ranks: int, steps: int, stages: int, seed: int
) -> None:
    where = seats(ranks, lambda rank: {"pp_rank": rank % stages})
    log = step_log(healthy(ranks, steps, seed)).drop("run_id")
    piece, sizes = piece_of(log, 0, 0), Sizes(10, 30, 4)
    rows = compare_rows(piece, "run", where, sizes)
    ready = Ready.of(piece)
    assert ready.grid is not None
    array = compare(ready, Places.of(where, 0), sizes, lambda _: rows)
    assert array.units.equals(rows.units)
    np.testing.assert_allclose(array.ratios, rows.ratios, rtol=3e-7)
    assert array.stages.tolist() == rows.stages.tolist()
    np.testing.assert_allclose(array.stage_ratios, rows.stage_ratios, rtol=1e-12)
    np.testing.assert_allclose(array.report_work, rows.report_work, rtol=1e-12)
    assert array.totals.equals(rows.totals)


def drawn(seed: int) -> Drawn:
    """Own work of a healthy day: what ranks have for ever, steps, pauses, outliers.

    A persistent sd of 0.3 %, steps of 0.2 to 0.7 % with an autocorrelation of 0.4,
    a jitter of all ranks together of 1 %, one step in 500 up to half longer, and in
    one of 2,000 a collection of garbage of 300 ms.
    """
    draw = np.random.default_rng(seed)
    noise = draw.standard_normal((STEPS, RANKS), dtype=np.float32)
    for step in range(1, STEPS):
        noise[step] = 0.4 * noise[step - 1] + np.sqrt(1 - 0.4**2) * noise[step]
    noise *= draw.uniform(0.002, 0.007, RANKS).astype(np.float32)
    noise += draw.normal(0, 0.003, RANKS).astype(np.float32)
    noise += draw.normal(0, 0.01, (STEPS, 1)).astype(np.float32)
    work = np.exp(noise)
    chance = draw.random((STEPS, RANKS), dtype=np.float32)
    work[chance < 1 / 500] *= 1 + draw.uniform(0, 0.5)
    work[chance > 1 - 1 / 2000] += 0.3
    return work


def judged(work: Drawn) -> Results:
    """What is kept of a drawn day, whose rows are made a window at a time."""
    where = seats(
        RANKS, lambda rank: {"host": f"node-{rank // 8}", "gpu_uuid": f"GPU-{rank}"}
    )

    def read(columns: Sequence[str], bounds: Bounds | None) -> Iterator[pl.DataFrame]:
        first, last = bounds or (0, STEPS - 1)
        for start in range(first // WINDOW * WINDOW, last + 1, WINDOW):
            part: Times = work[start : start + WINDOW].astype(np.float64)
            rows = step_log(part).with_columns(step=pl.col("step") + start)
            yield rows.filter(pl.col("step").is_between(first, last)).select(columns)

    day = Day("run", "2023-11-14", read)
    return ROLLUP.compute(day, Frames({Gpus: where.lazy()}), ROLLUP.thresholds)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_healthy_days_flag_nobody(seed: int) -> None:
    # 16 days of 1,024 ranks are one of 16,384
    assert judged(drawn(seed))[StragglerDaysSpells].is_empty()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_fault_of_5_percent_and_300_steps_is_found_and_dated(seed: int) -> None:
    work, draw = drawn(seed), np.random.default_rng(100 + seed)
    hosts = draw.choice(RANKS // 8, 20, replace=False)
    faults = {}
    for number, host in enumerate(hosts.tolist()):
        first = int(draw.integers(0, STEPS - 2_000))
        last = first + int(draw.integers(300, 2_000)) - 1
        ranks = 8 if number % 4 == 0 else 1
        ratio = 1.05 + 0.1 * draw.random()
        work[first : last + 1, host * 8 : host * 8 + ranks] *= ratio
        faults[f"node-{host}" if ranks > 1 else f"GPU-{host * 8}"] = (first, last)
    rows = judged(work)[StragglerDaysSpells].to_dicts()
    found = {row["scope_id"]: (row["first_step"], row["last_step"]) for row in rows}
    assert len(rows) == len(faults)
    assert found.keys() == faults.keys()
    for name, dates in faults.items():
        assert found[name] == pytest.approx(dates, abs=30)
