"""Samples of one device from several files: which of them count where they differ."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Difference of two files' power over the same time from which one of them is wrong:
#: sensors of one board agree within 5 %. [1]
APART_RATIO: Final = 0.05

#: Difference that is never told: readings of a board are good to 5 W. [W]
APART_W: Final = 5.0

#: Standard errors beside it: files sample a load that moves at other moments. [1]
APART_ERRORS: Final = 3.0

#: Samples that tell whether a file differs from another. [1]
LEAST_SAMPLES: Final = 3

#: Silence of a file in which another counts, in its intervals, and its bounds.
SILENT_INTERVALS: Final = 5.0
SILENT_FLOOR_NS: Final = 3 * SECOND_NS
SILENT_CEILING_NS: Final = 300 * SECOND_NS

_VALUES: Final = ("power_average_w", "power_instant_w", "energy_mj")

_OF_SOURCE: Final = ("device", "source")


def one_source(samples: pl.DataFrame) -> pl.DataFrame:
    """Leave one source of a device where two of them differ over the same time.

    The source that counts is the one whose time zone is known, then the one with more
    samples. Counters are never mixed: two clocks a second apart would make them fall.

    Args:
        samples: `device`, `time_ns`, `source` (a number for each file and host that a
            file names), `is_assumed_zone`, `is_whole` and values, sorted by device and
            time.

    Returns:
        The samples less what does not count, with `is_disagreeing`: whether sources
        differ around that time.
    """
    is_new = pl.any_horizontal(
        pl.col(name) != pl.col(name).shift(1) for name in _OF_SOURCE
    ).fill_null(value=True)
    runs, sources = samples.select(
        is_new.sum().alias("runs"), pl.struct(_OF_SOURCE).n_unique()
    ).row(0)
    if runs == sources:
        return samples.with_columns(is_disagreeing=pl.lit(value=False))
    numbered = samples.with_row_index("_row")
    left_out = {name: _left_out(numbered, name) for name in _VALUES}
    told = pl.concat(
        rows.filter("is_apart").select("device", "time_ns")
        for rows in left_out.values()
    )
    spans = told.group_by("device").agg(
        _from=pl.col("time_ns").min(), _to=pl.col("time_ns").max()
    )
    return _without(numbered, left_out, spans)


def _without(
    numbered: pl.DataFrame, left_out: dict[str, pl.DataFrame], spans: pl.DataFrame
) -> pl.DataFrame:
    gone = {
        name: pl.col("_row").is_in(rows["_row"].implode())
        for name, rows in left_out.items()
    }
    is_cut = pl.any_horizontal(gone.values())
    cut = numbered.with_columns(
        is_whole=pl.col("is_whole") & ~is_cut,
        _is_cut=is_cut,
        **{name: pl.when(~lost).then(name) for name, lost in gone.items()},
    )
    says_more = pl.any_horizontal(pl.col(_VALUES).is_not_null())
    kept = cut.filter(~pl.col("_is_cut") | says_more)
    near = pl.col("time_ns").is_between("_from", "_to").fill_null(value=False)
    joined = kept.join(spans, on="device", how="left", maintain_order="left")
    flagged = joined.with_columns(is_disagreeing=near)
    return flagged.drop("_row", "_is_cut", "_from", "_to")


def _left_out(numbered: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the rows whose value does not count, and whether they tell otherwise."""
    known = numbered.select(
        *("_row", "time_ns", "is_assumed_zone"), *_OF_SOURCE, value=column
    ).drop_nulls("value")
    sources = known.group_by(_OF_SOURCE).agg(
        pl.col("is_assumed_zone").any(),
        rows=-pl.len().cast(pl.Int64),
        first=pl.col("time_ns").min(),
    )
    order = ("device", "is_assumed_zone", "rows", "first", "source")
    best = sources.sort(*order).unique("device", keep="first", maintain_order=True)
    main = known.join(best.select(_OF_SOURCE), on=_OF_SOURCE, how="semi")
    others = known.join(best.select(_OF_SOURCE), on=_OF_SOURCE, how="anti")
    within = _within(others, main, is_counter=column == "energy_mj")
    if column == "energy_mj":
        return within.select("_row", "device", "time_ns", is_apart=pl.lit(value=False))
    apart = within.group_by(_OF_SOURCE).agg(is_apart=_is_apart())
    differing = within.join(apart.filter("is_apart"), on=_OF_SOURCE)
    return differing.select("_row", "device", "time_ns", "is_apart")


def _within(
    others: pl.DataFrame, main: pl.DataFrame, *, is_counter: bool
) -> pl.DataFrame:
    """Return other samples inside the time of the main source, with what it says."""
    of_time = main.group_by("device", "time_ns").agg(pl.col("value").mean())
    read = of_time.sort("time_ns").with_columns(_at="time_ns", _says="value")
    told = read.select("device", "time_ns", "_at", "_says")
    rows = others.sort("time_ns")
    for side in ("backward", "forward"):
        rows = rows.join_asof(
            told,
            on="time_ns",
            by="device",
            strategy="backward" if side == "backward" else "forward",
            check_sortedness=False,
        ).rename({"_at": f"{side}_ns", "_says": f"{side}_value"})
    usual = pl.col("time_ns").sort().diff().median() * SILENT_INTERVALS
    silent = told.group_by("device").agg(_silent=usual.fill_null(0.0))
    length = pl.col("forward_ns") - pl.col("backward_ns")
    longest = pl.col("_silent").clip(SILENT_FLOOR_NS, SILENT_CEILING_NS)
    near = pl.lit(value=True) if is_counter else length <= longest
    part = (pl.col("time_ns") - pl.col("backward_ns")) / length
    rise = pl.col("forward_value") - pl.col("backward_value")
    says = pl.col("backward_value") + pl.when(length > 0).then(rise * part).otherwise(0)
    inside = rows.drop_nulls(["backward_ns", "forward_ns"]).join(silent, on="device")
    return inside.filter(near).with_columns(main=says)


def _is_apart() -> pl.Expr:
    """Return whether a source differs from the main one by more than chance allows."""
    differs = pl.col("value") - pl.col("main")
    error = (differs.std() / pl.len().sqrt()).fill_null(0.0)
    most = pl.max_horizontal(pl.col("value").mean(), pl.col("main").mean())
    allowed = pl.max_horizontal(APART_RATIO * most, pl.lit(APART_W))
    is_far = differs.mean().abs() > allowed + APART_ERRORS * error
    return is_far & (pl.len() >= LEAST_SAMPLES)
