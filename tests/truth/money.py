"""The money of a run, by SQL that knows its jobs alone, and as the page tells it."""

from decimal import Decimal

import polars as pl

from analysis.lost_time import LostTime
from ingest.synthetic.history import History
from pipeline import querying
from reports import _ledger
from reports._section import Scope
from tests.reports.builder import framed, prices_of, provenance_of
from tests.truth.histories import Told

#: GPUs times elapsed times price, of the jobs of a run. [USD]
JOBS_ALONE = """
SELECT round(sum(gpu_count * ((end_ns - start_ns) / 3600e9)) * {usd}, 2) AS usd
FROM jobs WHERE run_id = '{run_id}'"""

#: The same for a reservation: all of it from the first start to the last end. [USD]
RESERVED = """
SELECT round(max(c.reserved_gpus) * ((max(j.end_ns) - min(j.start_ns)) / 3600e9)
             * {usd}, 2) AS usd
FROM jobs AS j JOIN run_cards AS c USING (run_id) WHERE run_id = '{run_id}'"""


def waterfall(lost: pl.DataFrame, run_id: str, usd: str) -> Decimal:
    """The total of the waterfall, to the cent. [USD]"""
    scope = Scope(prices_of(run_id, usd=usd), provenance_of(run_id))
    frames = framed({LostTime: lost.to_dicts()})
    found = _ledger.accounts(_ledger.by_run(frames, scope), scope)
    return _ledger.paid(found).usd.quantize(Decimal("0.01"))


def by_sql(told: Told, query: str) -> Decimal:
    run_id, usd = told.truth["run_id"], History(seed=0).usd_per_gpu_hour
    rows = querying.rows_of(told.lake, query.format(usd=usd, run_id=run_id))
    return Decimal(str(rows["usd"][0])).quantize(Decimal("0.01"))
