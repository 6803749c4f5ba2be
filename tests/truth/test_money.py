"""The money of the page, added up a second time by SQL that only knows the jobs."""

from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl
import pytest

from analysis.attempts import Attempts
from analysis.goodput import Goodput
from analysis.lost_time import LostTime
from ingest.synthetic.run_card import USD_PER_GPU_HOUR
from ingest.tables import Jobs
from reports import _money_check
from reports._section import Scope
from tests.reports.builder import framed, prices_of, provenance_of
from tests.truth.histories import Told, analysed, read
from tests.truth.money import JOBS_ALONE, RESERVED, by_sql, waterfall

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_sample_costs_what_its_jobs_alone_say(sample: "Sample") -> None:
    lost = read(sample.lake, LostTime)
    query = JOBS_ALONE.format(usd=USD_PER_GPU_HOUR, run_id="pod16-demo")
    expected = Decimal(str(sample.sql(query)["usd"][0]))
    assert waterfall(lost, "pod16-demo", str(USD_PER_GPU_HOUR)) == expected


@pytest.fixture(scope="module", params=[False, True], ids=["allocated", "reserved"])
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    folder = tmp_path_factory.mktemp("money")
    few = {"days": 1, "nodes": 2, "unexpected": 8, "planned": 2}
    outputs = (LostTime, Attempts, Goodput, Jobs)
    return analysed(folder, outputs, is_reserved=request.param, **few)


def test_history_costs_what_its_jobs_alone_say(told: Told) -> None:
    run_id = told.truth["run_id"]
    total = waterfall(told[LostTime], run_id, "2.0")
    is_reserved = told.truth["reserved_gpus"] > told.truth["gpus"]
    assert total == by_sql(told, RESERVED if is_reserved else JOBS_ALONE)
    assert total > 100


def test_page_says_the_jobs_agree_or_why_not(told: Told) -> None:
    run_id = told.truth["run_id"]
    frames = framed(
        {table: told[table].to_dicts() for table in (LostTime, Attempts, Jobs)}
    )
    scope = Scope(prices_of(run_id, usd="2.0"), provenance_of(run_id))
    (row,) = _money_check.compared(frames, scope).to_dicts()
    parts = row["between"] + row["beside"] + row["running"] + row["other"]
    assert row["jobs"] + parts == row["paid"]
    (text,) = _money_check.sentences(frames, scope)
    if told.truth["reserved_gpus"] == told.truth["gpus"]:
        assert text.endswith("USD, to the cent what the ledger books.")
        return
    assert "more for GPUs that stay reserved between attempts" in text
    assert "more for GPUs beyond those of the jobs" in text
    assert row["running"] == row["other"] == 0


def test_accounts_of_both_billings_are_the_truth(told: Told) -> None:
    rows = told[LostTime].group_by("category").agg(pl.col("gpu_ns").sum())
    found = {name: int(ns) for name, ns in rows.iter_rows()}
    assert found == {name: ns for name, ns in told.truth["accounts_ns"].items() if ns}


def test_nothing_is_said_without_a_list_of_jobs(told: Told) -> None:
    frames = framed({LostTime: told[LostTime].to_dicts()})
    scope = Scope(prices_of(usd="2.0"), provenance_of())
    assert _money_check.sentences(frames, scope) == []
