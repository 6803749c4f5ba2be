"""The runs on the page: when they were, what they held, what is known of them."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.lost_time import LostTime
from analysis.placing import CLOCKS_FROM_NS
from analysis.runs import Runs
from ingest.tables import IngestedFiles, Jobs
from reports import _sql
from reports._numbers import grouped, period
from reports._section import Column, Listing, Scope
from reports._words import listed, name, said
from reports.dollars import rate_in_words

#: Most rows of a listing: what a person reads at once.
MOST_ROWS: Final = 10

#: Nanoseconds of a day.
NS_PER_DAY: Final = 86_400_000_000_000

_SQL: Final = """\
SELECT run_id, start_ns, end_ns, gpu_count, gpu_model, usd_per_gpu_hour, has_card
FROM runs
${where}ORDER BY start_ns NULLS LAST, run_id"""


def spans(frames: Frames, scope: Scope) -> dict[str, tuple[int, int]]:
    """Return start and end of the runs on the page that have both. [ns]"""
    rows = scope.of_runs(frames[Runs]).select("run_id", "start_ns", "end_ns")
    return {
        run_id: (start, end)
        for run_id, start, end in rows.drop_nulls().sort("run_id").collect().iter_rows()
    }


def days_of(frames: Frames, scope: Scope, run_id: str) -> Decimal | None:
    """Return how many days a run took, None where that is not known.

    Traces are samples: of a run that nothing else tells of, they know no days.
    """
    if is_sampled(frames, run_id):
        return None
    span = spans(frames, scope).get(run_id)
    if span is None or span[1] <= span[0]:
        return None
    return Decimal(span[1] - span[0]) / NS_PER_DAY


def is_sampled(frames: Frames, run_id: str) -> bool:
    """Whether only traces, which are samples, tell of a run."""
    attempts = frames[Attempts].filter(Attempts.run_id.col == run_id)
    bases = attempts.select(Attempts.basis.col.unique()).collect().to_series()
    return bases.to_list() == ["traces"]


def listing(frames: Frames, scope: Scope) -> Listing:
    """Return the runs with their period, GPUs and price, and where each came from."""
    by = ["start_ns", "run_id"]
    rows = scope.of_runs(frames[Runs]).sort(by, nulls_last=True).collect()
    bases = _bases(frames)
    cells = [
        (
            name(row["run_id"]),
            _named_by(row, bases),
            _period(row),
            _gpus(row),
            rate_in_words(scope.price(row["run_id"])),
        )
        for row in rows.head(MOST_ROWS).to_dicts()
    ]
    more = rows.height - len(cells)
    return Listing(
        title="Runs on this page",
        columns=(
            Column("Run"),
            Column("Name from", "What told which run the telemetry belongs to."),
            Column("Period", "First start to last end of its attempts."),
            Column("GPUs"),
            Column("Price", "Where the price came from stands in brackets."),
        ),
        rows=cells,
        more=f"{grouped(more)} more runs" if more else "",
        sql=_sql.filled(_SQL, where=_sql.where(scope.sql())),
    )


def _bases(frames: Frames) -> dict[str, list[str]]:
    rows = (
        frames[IngestedFiles]
        .filter(IngestedFiles.run_id.col.is_not_null())
        .group_by(IngestedFiles.run_id.col)
        .agg(IngestedFiles.run_id_basis.col.unique().sort())
        .collect()
    )
    return dict(rows.iter_rows())


def _named_by(row: dict[str, object], bases: dict[str, list[str]]) -> str:
    found = [
        said(basis) for basis in bases.get(str(row["run_id"]), []) if basis != "none"
    ]
    if row["has_card"] and "run card" not in found:
        found.insert(0, "run card")
    return listed(found) or "inferred from the data"


def _period(row: dict[str, object]) -> str:
    start, end = row["start_ns"], row["end_ns"]
    if not isinstance(start, int) or not isinstance(end, int):
        return "not known"
    if start < CLOCKS_FROM_NS:  # counted from a moment of the trace's own
        return "not known"
    return period(start, end)


def _gpus(row: dict[str, object]) -> str:
    count, model = row["gpu_count"], row["gpu_model"]
    known = grouped(count) if isinstance(count, int) else "not known"
    return f"{known} {name(str(model), 30)}" if model else known


def order(frames: Frames, scope: Scope) -> list[str]:
    """Return the runs with paid time, the dearest in GPU time first."""
    rows = (
        scope.of_runs(frames[LostTime])
        .group_by("run_id")
        .agg(LostTime.gpu_ns.col.cast(pl.Int128).sum())
        .sort(["gpu_ns", "run_id"], descending=[True, False])
        .collect()
    )
    return rows["run_id"].to_list()


def unpaid(frames: Frames, scope: Scope) -> list[str]:
    """Return the runs in no account on a page that has accounts of others.

    A run whose jobs never started held nothing, and is not one of them.
    """
    if not order(frames, scope):
        return []
    told = [frames[table].select("run_id") for table in (LostTime, Jobs)]
    runs = scope.of_runs(frames[Runs]).select("run_id")
    rows = runs.join(pl.concat(told), on="run_id", how="anti").sort("run_id")
    return rows.collect()["run_id"].to_list()


def of_runs(run_ids: Iterable[str], scope: Scope) -> str:
    """Return whose a finding is, as " of a"; nothing on a page about one run.

    Args:
        run_ids: Runs that the finding is about.
        scope: Runs of the page.
    """
    if len(scope.provenance.run_ids) <= 1:
        return ""
    names = [name(run_id, 30) for run_id in sorted(set(run_ids))]
    return f" of {listed(names)}" if names else ""


def planned_steps(frames: Frames, run_id: str) -> int | None:
    """Return how many steps a run is meant to take, None where no card tells."""
    rows = frames[Runs].filter(Runs.run_id.col == run_id).select("planned_steps")
    found = rows.drop_nulls().collect().to_series().to_list()
    return int(found[0]) if found else None
