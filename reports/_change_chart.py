"""Shares of accounts before and now, beside their noise."""

from typing import Final

import polars as pl

from reports import _change_words, _sql
from reports._baseline import Sides
from reports._numbers import percent
from reports._section import About, Chart, Spec
from reports._texts import said_by
from reports._words import plural, said
from reports.theme import COLOURS, COPIES

_SQL: Final = """\
WITH held AS (
  SELECT category, sum(gpu_ns::DOUBLE) FILTER ($before) AS before_ns,
         sum(gpu_ns::DOUBLE) FILTER ($now) AS now_ns
  FROM lost_time GROUP BY category)
SELECT category, 100 * coalesce(before_ns, 0) / sum(before_ns) OVER () AS before,
       100 * coalesce(now_ns, 0) / sum(now_ns) OVER () AS now
FROM held WHERE before_ns > 0 OR now_ns > 0
ORDER BY category"""

_ABOUT: Final = About(
    definition="Share of each account in what was paid: a ring before, a point now; the"
    " grey bar is the 95 % interval within which it would move by chance.",
    source="Student's test of two weighted means, days as samples",
    blind_spots="Days of one cause count as days of their own. Without a bar the noise"
    " is not known: too few days, or too few stops.",
)

#: All that was paid. [%]
_WHOLE: Final = 100

#: Colour of each verdict.
_VERDICTS: Final = {
    "better": COLOURS["productive"],
    "worse": COLOURS["broken"],
    "within noise": COLOURS["idle"],
    "may be chance": COPIES,
    "not testable": COLOURS["unknown"],
}

_TIPS: Final = (("label", "account"), ("text", "share"), ("noise_text", "noise"))


def chart(rows: pl.DataFrame, sides: Sides) -> list[Chart]:
    """Return the shares of both sides, where both are of one lake.

    Args:
        rows: Rows of `changes`.
        sides: What is compared.
    """
    from reports.charts import pairs

    shares = rows.filter(~pl.col("measure").is_in(_change_words.NO_ACCOUNTS))
    if shares.is_empty() or sides.is_elsewhere:
        return []
    shown = shares.sort(pl.max_horizontal("before", "now"), descending=True)
    return [
        Chart(
            name="changed-shares",
            title="Share of what was paid, before and now [%]",
            summary=f"A ring and a point in {plural(shown.height, 'row')}.",
            spec=_to_all(
                pairs.moved(
                    _drawn(shown), "share of what was paid [%]", _VERDICTS, _TIPS
                )
            ),
            numbers=_numbers(shares),
            sql=_query(sides),
            about=_ABOUT,
            sample=f"{sides.subject} against {sides.against}",
            legend=_VERDICTS,
        )
    ]


def _to_all(spec: Spec) -> Spec:
    """Let the axis tell no share above all: the room behind it is for words."""
    for layer in spec["layer"]:
        x = layer["encoding"]["x"]
        if x.get("axis") and x["scale"]["domain"][1] > _WHOLE:
            x["axis"]["values"] = list(range(0, _WHOLE + 1, 20))
    return spec


def _numbers(shares: pl.DataFrame) -> pl.DataFrame:
    return shares.sort("measure").select(
        category="measure", before=100 * pl.col("before"), now=100 * pl.col("now")
    )


def _query(sides: Sides) -> str:
    before, now = (
        " AND ".join(
            part
            for part in (
                _sql.of_runs(side.run_ids),
                f"day >= {_sql.literal(side.since)}" if side.since else "",
                f"day < {_sql.literal(side.until)}" if side.until else "",
            )
            if part
        )
        for side in (sides.before, sides.now)
    )
    return _sql.filled(_SQL, before=f"WHERE {before}", now=f"WHERE {now}")


def _drawn(shown: pl.DataFrame) -> pl.DataFrame:
    before, noise = 100 * pl.col("before"), 100 * pl.col("noise")
    return shown.select(
        label=said_by("measure", said),
        before=before,
        now=100 * pl.col("now"),
        low=(before - noise).clip(0),
        high=before + noise,
        part=pl.col("verdict").replace(_change_words.VERDICTS),
        text=pl.struct("before", "now").map_elements(_text, return_dtype=pl.String),
        brief=said_by("now", percent),
        noise_text=said_by("noise", lambda at: _change_words.points(at, sign=False)),
    )


def _text(pair: dict[str, float]) -> str:
    return f"{percent(pair['before'])} \N{RIGHTWARDS ARROW} {percent(pair['now'])}"
