"""Own work of every rank over the steps, as a field of cells."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis import Frames
from analysis.gpus import Gpus
from ingest.phrases import phrase
from ingest.tables import StepTimings
from reports import _runs, _sql, _work_hours
from reports._numbers import percent
from reports._section import About, Chart, Scope
from reports._texts import said_by
from reports._words import name
from reports._work_grid import Grid, grid_of

#: Slowdown that the darkest colour stands for, at least: scatter must not look slow.
_LEAST_TOP: Final = 1.05

_TITLES: Final = ("step", "ranks", "own work over the median of all ranks [1]")

_ABOUT: Final = About(
    definition="Duration minus waiting, over the median of all ranks in the same step.",
    source="own work as in Slow GPUs; the verdict compares peers only",
    blind_spots="Pipeline stages differ in work, so that a whole stage may look slow"
    " here and is not.",
)

_SQL: Final = """\
WITH own AS (
  SELECT rank, step, duration_ns - wait_ns AS work_ns
  FROM step_timings
  WHERE run_id = $run AND scope = 'rank'
    AND rank IS NOT NULL AND wait_ns IS NOT NULL
), typical AS (
  SELECT step, median(work_ns) AS typical_ns FROM own GROUP BY step
), cells AS (
  SELECT rank, step // $width * $width AS from_step,
         median(work_ns / typical_ns) AS work_ratio
  FROM own JOIN typical USING (step)
  WHERE typical_ns > 0
  GROUP BY rank, from_step
)
SELECT rank // $height * $height AS from_rank, from_step,
       max(work_ratio) AS work_ratio
FROM cells
GROUP BY ALL
ORDER BY from_rank, from_step"""


def chart(frames: Frames, scope: Scope) -> list[Chart]:
    """Return the field of the dearest run whose waits are known.

    A run whose steps are condensed by day is drawn from what is kept of them.
    """
    condensed = _work_hours.grid(frames, scope)
    if condensed is not None:
        cells = _work_hours.cells(frames, condensed)
        text, about = _work_hours.SQL, _work_hours.ABOUT
        return _shown(frames, cells, condensed, text, about)
    grid = _grid(frames, scope)
    if grid is None:
        return []
    return _shown(frames, _cells(frames, grid), grid, _SQL, _ABOUT)


def _shown(
    frames: Frames, cells: pl.DataFrame, grid: Grid, text: str, about: About
) -> list[Chart]:
    if cells.is_empty():
        return []
    return [_described(cells, grid, _hosts(frames, grid), text, about)]


def _own(frames: Frames) -> pl.LazyFrame:
    return frames[StepTimings].filter(
        (StepTimings.scope.col == "rank")
        & StepTimings.rank.col.is_not_null()
        & StepTimings.wait_ns.col.is_not_null()
    )


def _grid(frames: Frames, scope: Scope) -> Grid | None:
    sizes = (
        scope.of_runs(_own(frames))
        .group_by("run_id")
        .agg(
            ranks=pl.col("rank").n_unique(),
            top=pl.col("rank").max() + 1,
            steps=pl.col("step").n_unique(),
            first=pl.col("step").min(),
            last=pl.col("step").max(),
        )
        .filter(pl.col("ranks") > 1)
        .collect()
    )
    return grid_of(sizes, _runs.order(frames, scope))


def _cells(frames: Frames, grid: Grid) -> pl.DataFrame:
    own = (
        _own(frames)
        .filter(StepTimings.run_id.col == grid.run_id)
        .select("rank", "step", work=pl.col("duration_ns") - pl.col("wait_ns"))
    )
    typical = own.group_by("step").agg(typical=pl.col("work").median())
    ratio = (pl.col("work") / pl.col("typical")).median()
    from_step = pl.col("step") // grid.width * grid.width
    from_rank = pl.col("rank") // grid.height * grid.height
    return (
        own.join(typical, on="step")
        .filter(pl.col("typical") > 0)
        .group_by("rank", from_step=from_step)
        .agg(work_ratio=ratio)
        .group_by("from_step", from_rank=from_rank)
        .agg(pl.col("work_ratio").max())
        .select("from_rank", "from_step", "work_ratio")
        .sort("from_rank", "from_step")
        .collect()
    )


def _hosts(frames: Frames, grid: Grid) -> dict[int, str]:
    """Return the host of each rank, where a row of the field is one rank."""
    if grid.height > 1:
        return {}
    rows = (
        frames[Gpus]
        .filter((Gpus.run_id.col == grid.run_id) & Gpus.host.col.is_not_null())
        .sort("attempt")
        .unique("rank", keep="first", maintain_order=True)
        .select("rank", "host")
        .drop_nulls()
        .collect()
    )
    return dict(rows.iter_rows())


def _label(rank: int, grid: Grid, hosts: Mapping[int, str]) -> str:
    if grid.height > 1:
        return f"{rank}\N{EN DASH}{rank + grid.height - 1}"
    return f"{rank} · {name(hosts[rank], 24)}" if rank in hosts else f"rank {rank}"


def _described(
    cells: pl.DataFrame,
    grid: Grid,
    hosts: Mapping[int, str],
    text: str,
    about: About,
) -> Chart:
    from reports.charts import times

    slowest = cells.sort("work_ratio", descending=True).row(0, named=True)
    top = max(_LEAST_TOP, float(slowest["work_ratio"]))
    who = _label(slowest["from_rank"], grid, hosts)
    above = percent(slowest["work_ratio"] - 1)
    return Chart(
        name="stragglers-field",
        title=f"Own work of {grid.who}, run {name(grid.run_id)}",
        summary=f"A field of ranks over steps; the darkest cell is {who} from step"
        f" {slowest['from_step']}, {above} above the median.",
        spec=times.heat(_drawn(cells, grid, hosts), _TITLES, top),
        numbers=cells,
        sql=_sql.filled(
            text,
            run=_sql.literal(grid.run_id),
            width=str(grid.width),
            height=str(grid.height),
        ),
        about=about,
        sample=grid.sample,
    )


def _drawn(cells: pl.DataFrame, grid: Grid, hosts: Mapping[int, str]) -> pl.DataFrame:
    last = pl.col("from_step") + grid.width - 1
    return cells.select(
        "from_step",
        key="from_rank",
        to_step=pl.col("from_step") + grid.width,
        value="work_ratio",
        steps=phrase("{} to {}", "from_step", last),
        text=said_by("work_ratio", lambda ratio: f"{ratio:.3f}"),
        label=said_by("from_rank", lambda rank: _label(rank, grid, hosts)),
    )
