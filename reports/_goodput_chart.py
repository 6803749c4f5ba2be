"""Shares of a run's time, beside those that others published."""

from itertools import chain
from typing import Final

import polars as pl

from reports import _sql
from reports._goodput_measures import MEASURES, Measure
from reports._goodput_peers import PEERS, Peer
from reports._numbers import percent
from reports._section import About, Chart, Spec
from reports._texts import said_by
from reports._words import name
from reports.theme import COLOURS

#: Each measure of ours with the published shares of the same below it.
_ROWS: Final[tuple[Measure | Peer, ...]] = tuple(
    chain.from_iterable(
        (one, *(peer for peer in PEERS if peer.column == one.column))
        for one in MEASURES
    )
)

#: Who a share of this lake is of.
OURS: Final = "this run"

_SQL: Final = """\
SELECT measure, who, share FROM (
$ours
  UNION ALL
  SELECT * FROM (VALUES
$published
  )
)
WHERE share IS NOT NULL
ORDER BY place"""

_ONE: Final = (
    "  SELECT $place AS place, $label AS measure, 'this run' AS who, $column AS share\n"
    "  FROM goodput WHERE run_id = $run_id"
)

_ABOUT: Final = About(
    definition="; ".join(f"{one.label}: {one.definition}" for one in MEASURES)
    + ". A step that was done again counts once. Grey: published.",
    source=", ".join(
        dict.fromkeys(one.source for one in (*MEASURES, *PEERS)),
    ),
    blind_spots="The shares have different denominators: each compares with the"
    " published ones right below it at most, and none may be multiplied with another or"
    " with MFU. What a step did while it ran,"
    " only the ledger's goodput sees.",
)

_LEGEND: Final = {
    "of clock time": COLOURS["productive"],
    "of what was paid for": COLOURS["paid"],
    "published": COLOURS["idle"],
}

_TIPS: Final = (("label", "who"), ("text", "share"), ("told", "is"))


def chart(row: dict[str, object]) -> Chart | None:
    """Return the shares of one run, each with those that others published below it.

    Args:
        row: A row of Goodput.
    """
    from reports.charts import points

    numbers = _numbers(row)
    if numbers.filter(pl.col("who") == OURS).is_empty():
        return None
    run_id = str(row["run_id"])
    return Chart(
        name="goodput-shares",
        title=f"Shares of the time of {name(run_id, 40)}, beside published ones",
        summary=f"{numbers.height - len(PEERS)} shares of this run, and {len(PEERS)}"
        " published ones below what they are shares of.",
        spec=_to_all(points.intervals(_drawn(numbers), "share of time [%]", _TIPS)),
        numbers=numbers,
        sql=_query(run_id),
        about=_ABOUT,
        sample=f"run {name(run_id, 40)}, all attempts",
        legend=_LEGEND,
    )


def _to_all(spec: Spec) -> Spec:
    """Let the axis tell no share above all: the room behind it is for words."""
    for layer in spec["layer"]:
        axis = layer["encoding"]["x"].get("axis")
        if axis:
            axis["values"] = [0, 25, 50, 75, 100]
    return spec


def _numbers(row: dict[str, object]) -> pl.DataFrame:
    rows = [
        ("published", one.label, one.ratio)
        if isinstance(one, Peer)
        else (one.label, OURS, row[one.column])
        for one in _ROWS
    ]
    schema = {"measure": pl.String, "who": pl.String, "share": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("share")


def _drawn(numbers: pl.DataFrame) -> pl.DataFrame:
    is_ours = pl.col("who") == OURS
    own = {one.label: one for one in MEASURES}
    meanings = {label: one.meaning for label, one in own.items()}
    told = {label: one.definition for label, one in own.items()}
    peers = {peer.label: f"{peer.definition} ({peer.source})" for peer in PEERS}
    least = [peer.label for peer in PEERS if peer.is_least]
    more = pl.when(pl.col("who").is_in(least)).then(pl.lit("> ")).otherwise(pl.lit(""))
    text = pl.concat_str(more, said_by("share", percent))
    nothing = pl.lit(None, pl.Float64)
    return numbers.select(
        label=pl.when(is_ours).then("measure").otherwise("who"),
        meaning=pl.col("measure").replace_strict(meanings, default="idle"),
        value=pl.col("share") * 100,
        low=nothing,
        high=nothing,
        text=text,
        brief=text,
        told=pl.coalesce(
            pl.col("measure").replace_strict(told, default=None),
            pl.col("who").replace_strict(peers, default=None),
        ),
    )


def _query(run_id: str) -> str:
    ours = [
        _sql.filled(
            _ONE,
            place=str(place),
            label=_sql.literal(one.label),
            column=one.column,
            run_id=_sql.literal(run_id),
        )
        for place, one in enumerate(_ROWS)
        if isinstance(one, Measure)
    ]
    others = [
        f"    ({place}, 'published', {_sql.literal(one.label)}, {one.ratio})"
        for place, one in enumerate(_ROWS)
        if isinstance(one, Peer)
    ]
    return _sql.filled(
        _SQL, ours="\n  UNION ALL\n".join(ours), published=",\n".join(others)
    )
