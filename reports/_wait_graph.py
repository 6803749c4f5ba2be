"""Who waits for whom: lines from those that wait to those that come last."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql, _wait_lines
from reports._section import About, Chart, Scope
from reports._words import name, plural
from reports.theme import COLOURS

#: Waiting ranks, or bundles of them, that are drawn: rows that a phone still shows.
_MOST_WAITING: Final = 32

#: Late ranks that are drawn; all others are one.
_MOST_LATE: Final = 8

_SQL: Final = """\
WITH edges AS (
  SELECT waiting_rank // $width * $width AS from_rank, late_rank, wait_ns,
         collectives_count
  FROM waiting_edges
  WHERE run_id = $run AND attempt = $attempt
), latest AS (
  SELECT late_rank FROM edges
  GROUP BY late_rank
  ORDER BY sum(wait_ns) DESC, late_rank
  LIMIT $most
)
SELECT from_rank,
       CASE WHEN late_rank IN (FROM latest) THEN late_rank END AS late_rank,
       sum(wait_ns) / 1e9 AS wait_s, sum(collectives_count)::BIGINT AS waits
FROM edges
GROUP BY ALL
ORDER BY from_rank, late_rank NULLS LAST"""

_ABOUT: Final = About(
    definition="From a rank's arrival to the last arrival, added up by who came last;"
    " only where that is clear, beyond what the clocks may be off. Left: who waited."
    " Right: who came last, and how long it was waited for.",
    source="last arrival minus start, clocks of hosts brought together by the ends of"
    " their collectives",
    blind_spots="A rank that comes last may itself have been held up, in another group:"
    " follow the lines to the one that waits for nobody. Ranks without a trace are not"
    " there.",
)

_TIPS: Final = (
    ("who", "waiting"),
    ("late", "for"),
    ("text", "waited"),
    ("count", "times"),
)

_LEGEND: Final = {
    "waited for longest": COLOURS["waiting"],
    "others: may themselves be held up": COLOURS["idle"],
}


@dataclass(frozen=True, slots=True)
class _View:
    """The attempt that is drawn, and how many ranks make a row."""

    run_id: str
    attempt: int
    width: int
    ranks: int


def chart(edges: pl.LazyFrame, scope: Scope) -> list[Chart]:
    """Return who waited for whom in the attempt that waited most.

    Args:
        edges: Rows of WaitingEdges.
        scope: Runs of the page.
    """
    view = _view(edges)
    if view is None:
        return []
    mine = edges.filter(
        pl.col("run_id") == view.run_id, pl.col("attempt") == view.attempt
    ).collect()
    numbers = _numbers(mine, view)
    return [_described(numbers, view)]


def _view(edges: pl.LazyFrame) -> _View | None:
    totals = edges.group_by("run_id", "attempt").agg(
        wait_ns=pl.col("wait_ns").cast(pl.Int128).sum(),
        ranks=pl.max_horizontal(
            pl.col("waiting_to_rank").max(), pl.col("late_rank").max()
        )
        + 1,
    )
    order = ["wait_ns", "run_id", "attempt"]
    first = totals.sort(order, descending=[True, False, False]).head(1).collect()
    if first.is_empty():
        return None
    row = first.row(0, named=True)
    width = 1
    while -(-row["ranks"] // width) > _MOST_WAITING:
        width *= 2
    return _View(row["run_id"], row["attempt"], width, row["ranks"])


def _numbers(edges: pl.DataFrame, view: _View) -> pl.DataFrame:
    order = ["wait_ns", "late_rank"]
    latest = (
        edges.group_by("late_rank")
        .agg(pl.col("wait_ns").sum())
        .sort(order, descending=[True, False])
        .head(_MOST_LATE)
    )
    is_drawn = pl.col("late_rank").is_in(latest["late_rank"].to_list())
    return (
        edges.group_by(
            from_rank=pl.col("waiting_rank").cast(pl.Int64) // view.width * view.width,
            late_rank=pl.when(is_drawn).then("late_rank"),
        )
        .agg(
            wait_s=pl.col("wait_ns").sum() / 1e9,
            waits=pl.col("collectives_count").sum(),
        )
        .sort("from_rank", "late_rank", nulls_last=True)
    )


def _described(numbers: pl.DataFrame, view: _View) -> Chart:
    from reports.charts import flows

    left, right = _waiting(numbers, view), _wait_lines.late(numbers)
    first = right.row(0, named=True)
    others = pl.col("late_rank").is_null()
    told = numbers.filter(~others)["late_rank"].n_unique()
    return Chart(
        name="waits-graph",
        title=f"Who waits (left) for whom (right){_bundled(view)} [GPU-s]",
        summary=f"Lines from {plural(left.height, 'row')} to"
        f" {plural(told, 'late rank')}; the widest bundle leads to {first['text']}.",
        spec=flows.between(_wait_lines.lines(numbers, left, right), left, right, _TIPS),
        numbers=numbers,
        sql=_sql.filled(
            _SQL,
            width=str(view.width),
            run=_sql.literal(view.run_id),
            attempt=str(view.attempt),
            most=str(_MOST_LATE),
        ),
        about=_ABOUT,
        sample=_sample(numbers, view),
        legend=_LEGEND,
    )


def _bundled(view: _View) -> str:
    return f", {view.width} ranks a row" if view.width > 1 else ""


def _sample(numbers: pl.DataFrame, view: _View) -> str:
    waits = plural(int(numbers["waits"].sum()), "wait")
    rows = f"; a row is {view.width} neighbouring ranks" if view.width > 1 else ""
    late = f"; the {_MOST_LATE} that were waited for longest, all others as one"
    many = numbers["late_rank"].null_count() > 0
    return (
        f"{waits} of {plural(view.ranks, 'rank')} in attempt {view.attempt} of"
        f" {name(view.run_id)}, the one that waited most{rows}{late if many else ''}"
    )


def _waiting(numbers: pl.DataFrame, view: _View) -> pl.DataFrame:
    rows = numbers.select("from_rank").unique().sort("from_rank")
    until = pl.min_horizontal(pl.col("from_rank") + view.width, view.ranks) - 1
    bundle = phrase("{}\N{EN DASH}{}", "from_rank", until)
    text = phrase("rank {}", "from_rank") if view.width == 1 else bundle
    return rows.with_columns(
        y=pl.int_range(pl.len()).cast(pl.Float64),
        text=text,
        is_first=pl.lit(value=False),
    )
