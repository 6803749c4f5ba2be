"""The waiting graph of a hang: ranks, and whom they wait for."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ingest.phrases import phrase
from reports import _sql
from reports._numbers import grouped
from reports._section import About, Chart
from reports._texts import named, said_by
from reports._words import plural
from reports.theme import INK, PAPER

#: Nodes that stand side by side on a phone.
_ABREAST: Final = 9

#: Rows of nodes that are drawn one by one.
_MOST_ROWS: Final = 8

#: Bars of a graph that is too large to be drawn rank by rank.
_MOST_BARS: Final = 24

_EDGES: Final = """\
SELECT DISTINCT s.depth, w.rank AS waiting, a.rank AS awaited
FROM hang_waits w
JOIN hang_waits a USING (run_id, attempt, hang_id, operation)
JOIN hang_suspects s USING (run_id, attempt, hang_id)
JOIN hang_suspects t USING (run_id, attempt, hang_id)
WHERE w.role = 'waits' AND a.role = 'awaited'
  AND s.rank = w.rank AND t.rank = a.rank AND s.depth = t.depth + 1
  AND $hang
ORDER BY depth, waiting, awaited"""

_STEPS: Final = """\
SELECT depth, coalesce(parallel_kind, '') AS parallel_kind,
       coalesce(kind, '') AS kind, count(*) AS ranks
FROM hang_suspects
WHERE depth IS NOT NULL AND $hang
GROUP BY ALL
ORDER BY depth, ranks DESC, parallel_kind, kind
LIMIT $most"""

_ABOUT: Final = About(
    definition="Each rank stands at the oldest operation that it has not finished, and"
    " waits for members of that group who do not stand there. Only arrows on a shortest"
    " way to a candidate are drawn.",
    source="strongly connected parts without a way out (Tarjan, SIAM J. Comput. 1,"
    " 1972) of the waiting graph",
    blind_spots="Dumps show what hosts asked for and watchdogs saw, by the hosts'"
    " clocks. What a full buffer dropped and what a rank without a dump waits for is"
    " not seen, nor anything that is no collective. Dumps taken by hand within one step"
    " of a job that runs look like those of a hang: a dump does not hold its own time,"
    " so how long something has been open is not told.",
)

_TIPS: Final = (("who", "rank"), ("role", "role"), ("evidence", "why"))


def charts(
    hang: Mapping[str, Any], suspects: pl.DataFrame, waits: pl.DataFrame
) -> list[Chart]:
    """Return the waiting graph of a hang; nothing where no rank leads to another.

    Args:
        hang: Row of Hangs.
        suspects: Its rows of HangSuspects.
        waits: Its rows of HangWaits.
    """
    placed = suspects.filter(pl.col("depth").is_not_null())
    if placed.is_empty() or not placed["depth"].max():
        return []
    sizes = placed.group_by("depth").len()
    most, rows = sizes["len"].max(), sizes.height
    if isinstance(most, int) and most <= _ABREAST and rows <= _MOST_ROWS:
        return [_graph(hang, placed, waits)]
    return [_bars(hang, placed)]


def _graph(hang: Mapping[str, Any], placed: pl.DataFrame, waits: pl.DataFrame) -> Chart:
    from reports.charts import graphs

    edges = _edges(placed, waits)
    nodes = _nodes(placed)
    at = nodes.select("rank", "x", "y")
    arrows = edges.join(at, left_on="waiting", right_on="rank").join(
        at.rename({"x": "x2", "y": "y2"}), left_on="awaited", right_on="rank"
    )
    drawn = nodes.drop("rank", "depth")
    spec = graphs.rows_of_nodes(
        drawn, arrows.select("x", "y", "x2", "y2"), _captions(nodes), _TIPS
    )
    return Chart(
        name="hangs-graph",
        title="Who waits for whom, each circle a rank",
        summary=f"{plural(edges.height, 'arrow')} from ranks that wait to those they"
        " wait for; the ranks in the first row wait for nobody else.",
        spec=spec,
        numbers=edges,
        sql=_sql.filled(_EDGES, hang=_condition(hang)),
        about=_ABOUT,
        sample=_sample(hang, placed),
    )


def _bars(hang: Mapping[str, Any], placed: pl.DataFrame) -> Chart:
    from reports.charts import bars

    numbers = _steps(placed)
    step, is_named = pl.col("depth"), pl.lit(value=placed["is_candidate"].any())
    what = phrase("{} {}", "parallel_kind", "kind").str.strip_chars()
    is_root = (step == 0) & is_named
    meaning = pl.when(is_root).then(pl.lit("broken")).otherwise(pl.lit("waiting"))
    drawn = numbers.select(
        label=phrase("{}: {}", step, what),
        value=pl.col("ranks").cast(pl.Float64),
        meaning=meaning,
        text=said_by("ranks", grouped),
    )
    return Chart(
        name="hangs-graph",
        title="How many ranks wait, by steps to a candidate (0: itself) [ranks]",
        summary=f"{plural(numbers.height, 'bar')}; too many ranks to draw each, so"
        " those that wait alike are one bar.",
        spec=bars.ranking(drawn, "ranks [1]", (("label", "who"), ("text", "ranks"))),
        numbers=numbers,
        sql=_sql.filled(_STEPS, hang=_condition(hang), most=str(_MOST_BARS)),
        about=_ABOUT,
        sample=_sample(hang, placed),
    )


def _edges(placed: pl.DataFrame, waits: pl.DataFrame) -> pl.DataFrame:
    side = pl.col("role")
    begin = waits.filter(side == "waits").select("operation", waiting="rank")
    end = waits.filter(side == "awaited").select("operation", awaited="rank")
    depth = placed.select("rank", "depth")
    pairs = (
        begin.join(end, on="operation")
        .join(depth, left_on="waiting", right_on="rank")
        .join(depth.rename({"depth": "to"}), left_on="awaited", right_on="rank")
        .filter(pl.col("depth") == pl.col("to") + 1)
    )
    found = pairs.select("depth", "waiting", "awaited").unique()
    return found.sort("depth", "waiting", "awaited")


def _steps(placed: pl.DataFrame) -> pl.DataFrame:
    names = pl.col("parallel_kind", "kind").fill_null("")
    counted = placed.with_columns(names).group_by("depth", "parallel_kind", "kind")
    order = ["depth", "ranks", "parallel_kind", "kind"]
    return (
        counted.agg(ranks=pl.len().cast(pl.Int64))
        .select("depth", "parallel_kind", "kind", "ranks")
        .sort(order, descending=[False, True, False, False])
        .head(_MOST_BARS)
    )


def _nodes(placed: pl.DataFrame) -> pl.DataFrame:
    """Return nodes with their places: rows by depth, in the order of ranks."""
    place = (pl.int_range(pl.len()) + 0.5) / pl.len()
    root = pl.col("is_candidate")
    colour = pl.when(root).then(pl.lit("broken")).otherwise(pl.lit("waiting"))
    ink = pl.when(root).then(pl.lit(PAPER)).otherwise(pl.lit(INK))
    return placed.sort("depth", "rank").select(
        "rank",
        "depth",
        x=place.over("depth"),
        y=pl.col("depth").cast(pl.Float64),
        label=pl.col("rank").cast(pl.String),
        meaning=colour,
        ink=ink,
        who=pl.col("rank").cast(pl.String),
        role="role",
        evidence=named("evidence", 160),
    )


def _captions(nodes: pl.DataFrame) -> list[str]:
    rows = int(nodes["depth"].max() or 0) + 1  # type: ignore[arg-type]
    begun = nodes["meaning"].eq("broken").any()
    first = ["where it began" if begun else "could have begun", "wait for it"]
    return [*first[:rows], *(f"{row} ranks away" for row in range(2, rows))]


def _condition(hang: Mapping[str, Any]) -> str:
    run, name = _sql.literal(hang["run_id"]), _sql.literal(hang["hang_id"])
    return f"run_id = {run}\n  AND attempt = {hang['attempt']} AND hang_id = {name}"


def _sample(hang: Mapping[str, Any], placed: pl.DataFrame) -> str:
    seen, expected = grouped(hang["ranks_seen"]), grouped(hang["ranks_expected"])
    return f"dumps of {seen} of {expected} ranks; {plural(placed.height, 'rank')} drawn"
