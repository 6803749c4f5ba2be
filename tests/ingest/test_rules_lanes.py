"""Rows that pass at a glance come out as those held one by one against the rules."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest import _rules
from ingest.tables import StepTimings
from tests.examples import examples

ROW = st.fixed_dictionaries(
    {
        "step": st.sampled_from([None, 1, 2, 3]),
        "rank": st.sampled_from([None, -1, 0, 1, 2**31]),
        "start_ns": st.sampled_from([None, 0, 5]),
        "duration_ns": st.sampled_from([None, -1, 0, 10]),
        "compute_ns": st.sampled_from([None, 0, 10, 10**10]),
        "clock": st.sampled_from(["host", "device", "other"]),
        "scope": st.just("rank"),
        "step_count": st.just(1),
    }
)
TYPES = {
    name: pl.String if name in {"clock", "scope"} else pl.Int64
    for name in (
        *("step", "rank", "start_ns", "duration_ns", "compute_ns"),
        *("clock", "scope", "step_count"),
    )
}


@given(rows=st.lists(ROW, min_size=1, max_size=4), is_clean=st.booleans())
@settings(
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_both_lanes_take_and_refuse_the_same(
    rows: list[dict[str, object]], is_clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_clean:
        good = {"step": 1, "rank": 0, "duration_ns": 10, "compute_ns": 10}
        rows = [row | good | {"clock": "host"} for row in rows]
    frame = pl.DataFrame(rows, schema=TYPES).with_columns(run_id=pl.lit("r"))
    offered = _rules.complete(StepTimings, frame, "f", 0)
    taken, refused = _settled(offered)
    with monkeypatch.context() as patch:
        patch.setattr(_rules, "_typed", lambda *_: None)
        patch.setattr(_rules, "ascends", lambda *_, **__: False)
        slowly_taken, slowly_refused = _settled(offered)
    assert taken.equals(slowly_taken)
    assert refused.equals(slowly_refused)


def _settled(offered: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    checked = _rules.check(StepTimings, offered)
    first = _rules.split_repeats(StepTimings, checked.taken)
    return first.taken, pl.concat([checked.refused, first.refused])
