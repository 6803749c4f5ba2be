"""Steps of a run, one after the other, with the spells in which GPUs were slow."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis import Frames
from analysis.stragglers import StragglerSteps
from reports import _runs, _sql
from reports._episode_shown import SPELL_TIPS, STEP_TIPS, bands, points
from reports._numbers import duration, grouped
from reports._section import About, Chart, Scope
from reports._slow_ranks import who
from reports._words import name, plural
from reports.theme import COLOURS, HEAT, INK

#: Most points of a line: what a screen can show.
_MOST_BINS: Final = 300

#: Most spells that are drawn, the dearest: each takes a lane.
_MOST_SPELLS: Final = 6

#: Times the typical step from which a step is drawn no longer: the first step of a run
#: takes up to a hundred times as long.
_MOST_TIMES: Final = 2.5

#: What most steps stay below, with room: checkpoints do not squeeze the rest. [1]
_MOST_STEPS: Final = 0.95
_ROOM: Final = 1.1

#: Room above the typical step that is drawn at least, as a multiple of it. [1]
_LEAST_TIMES: Final = 1.2

_SECOND_NS: Final = 1e9

_SQL: Final = """\
WITH bins AS (
  SELECT step // $width * $width AS from_step,
         median(typical_work_ns) AS typical_ns,
         median(slowest_work_ns) AS slowest_ns
  FROM straggler_steps
  WHERE run_id = $run
  GROUP BY from_step
)
SELECT from_step, typical_ns, slowest_ns,
       (SELECT count(*) FROM straggler_ranks
        WHERE run_id = $run
          AND first_step < from_step + $width
          AND last_step >= from_step) AS slow_count
FROM bins
ORDER BY from_step"""

_ABOUT: Final = About(
    definition="Own work (duration minus waiting) of the slowest rank, which the step"
    " takes, and of the median rank. What lies between them, all others wait. A band is"
    " a spell in which a GPU or group was slow.",
    source="tests and dates as in Slow GPUs; edges of spells by least absolute"
    " deviations (Bai 1995)",
    blind_spots="A spell of fewer steps than the search sees is not drawn. What all"
    " ranks are slow in together raises both lines, and is no straggler.",
)


@dataclass(frozen=True, slots=True)
class _Strip:
    run_id: str
    steps: int
    width: int


def chart(frames: Frames, slow: pl.DataFrame, scope: Scope) -> list[Chart]:
    """Return the steps of the run with the dearest spell; nothing without one.

    Args:
        frames: The tables.
        slow: Rows of StragglerRanks, the dearest first.
        scope: Runs of the page.
    """
    strip = _strip(frames, slow, scope)
    if strip is None:
        return []
    spells = slow.filter(pl.col("run_id") == strip.run_id)
    return [_described(_bins(frames, spells, strip), spells, strip)]


def _strip(frames: Frames, slow: pl.DataFrame, scope: Scope) -> _Strip | None:
    rows = scope.of_runs(frames[StragglerSteps]).group_by("run_id")
    sizes = rows.agg(
        steps=pl.col("step").n_unique(),
        first=pl.col("step").min(),
        last=pl.col("step").max(),
    )
    known = {row["run_id"]: row for row in sizes.collect().to_dicts()}
    order = [*slow["run_id"], *_runs.order(frames, scope), *sorted(known)]
    chosen = next((run_id for run_id in order if run_id in known), None)
    if chosen is None:
        return None
    row = known[chosen]
    width = -(-(row["last"] - row["first"] + 1) // _MOST_BINS)
    return _Strip(chosen, row["steps"], width)


def _bins(frames: Frames, spells: pl.DataFrame, strip: _Strip) -> pl.DataFrame:
    bins = (
        frames[StragglerSteps]
        .filter(StragglerSteps.run_id.col == strip.run_id)
        .group_by(from_step=pl.col("step") // strip.width * strip.width)
        .agg(
            typical_ns=pl.col("typical_work_ns").median(),
            slowest_ns=pl.col("slowest_work_ns").median(),
        )
        .sort("from_step")
        .collect()
    )
    inside = bins.join_where(
        spells.select("first_step", "last_step"),
        pl.col("first_step") < pl.col("from_step") + strip.width,
        pl.col("last_step") >= pl.col("from_step"),
    )
    counted = inside.group_by("from_step").agg(slow_count=pl.len().cast(pl.Int64))
    told = bins.join(counted, on="from_step", how="left", maintain_order="left")
    return told.with_columns(pl.col("slow_count").fill_null(0))


def _described(bins: pl.DataFrame, spells: pl.DataFrame, strip: _Strip) -> Chart:
    from reports.charts import strips

    typical = float(bins["typical_ns"].median() or 0)  # type: ignore[arg-type]
    top = _top(bins["slowest_ns"], typical)
    unit, per = ("s", 1.0) if typical >= _SECOND_NS else ("ms", 1e-3)
    drawn = points(bins, strip.width, top, _SECOND_NS * per)
    shaded = bands(spells.head(_MOST_SPELLS), bins)
    return Chart(
        name="stragglers-steps",
        title=f"Own work of each step, run {name(strip.run_id)} [{unit}]",
        summary=_summary(spells, typical),
        spec=strips.strip(
            drawn,
            shaded,
            f"own work [{unit}]",
            top / _SECOND_NS / per,
            (STEP_TIPS, SPELL_TIPS),
        ),
        numbers=bins,
        sql=_sql.filled(_SQL, run=_sql.literal(strip.run_id), width=str(strip.width)),
        about=_ABOUT,
        sample=_sample(bins, spells, strip, top),
        legend={
            "slowest rank": INK,
            "median rank": COLOURS["productive"],
            "others wait": COLOURS["waiting"],
            **({"slow spell": HEAT[3]} if spells.height else {}),
        },
    )


def _top(slowest: pl.Series, typical: float) -> float:
    """Return the longest step that is drawn as long as it is. [ns]"""
    most = float(slowest.max() or 0)  # type: ignore[arg-type]
    if not typical:
        return most
    usual = _ROOM * float(slowest.quantile(_MOST_STEPS, "linear") or 0)
    return min(most, _MOST_TIMES * typical, max(usual, _LEAST_TIMES * typical))


def _summary(spells: pl.DataFrame, typical: float) -> str:
    first = "Two lines over the steps, of the slowest and of the median rank; the"
    typical_step = f" median rank takes {duration(typical)} a step"
    if spells.is_empty():
        return f"{first}{typical_step}, and nobody was slow."
    row = spells.row(0, named=True)
    return (
        f"{first}{typical_step}. The dearest spell: {who(row, at_start=False)}, steps"
        f" {row['first_step']} to {row['last_step']}."
    )


def _sample(bins: pl.DataFrame, spells: pl.DataFrame, strip: _Strip, top: float) -> str:
    told = [plural(strip.steps, "step")]
    if strip.width > 1:
        told.append(f"a point is the median of {grouped(strip.width)} steps")
    above = int((bins["slowest_ns"] > top).sum())
    if above:
        points = plural(above, "step" if strip.width == 1 else "point")
        told.append(f"{points} above {duration(top)} drawn as a triangle at the top")
    more = spells.height - _MOST_SPELLS
    if more > 0:
        told.append(f"{plural(more, 'spell')} that cost less not drawn")
    return "; ".join(told)
