"""How well the clocks of hosts agree, in words."""

from typing import Final

import polars as pl

from analysis._collective_instances import ENDS_NS
from ingest.times import SECOND_NS
from reports._numbers import duration, significant
from reports._words import listed, name, plural

#: Offset of a clock that nobody keeps: those that are kept are off by less than a
#: second, and one that runs free needs months to be off by a minute. [ns]
SET_WRONG_NS: Final = 60 * SECOND_NS

_SCATTER: Final = (
    "Scatter is how far the ends of collectives on one clock typically lie from those"
    " on the others, of the worst clock."
)


def agreement(clocks: pl.DataFrame) -> list[str]:
    """Return how well clocks agree and which are unknown; nothing for one alone.

    Args:
        clocks: Rows of ClockOffsets.
    """
    known = clocks.filter(pl.col("state") != "unknown")
    agreed = known.filter(pl.col("state") == "estimated")["residual_ns"]
    lost = unknown_clocks(clocks)
    told = []
    if len(agreed):
        has_hosts = known["host"].null_count() == 0
        whose = plural(known["clock"].n_unique(), "host" if has_hosts else "trace")
        moved = ", offsets taken out," if known["is_corrected"].any() else ""
        told.append(f"Clocks of {whose}{moved} scatter by {duration(max(agreed))}.")
    if lost:
        told.append(f"Not known: the {_clocks(lost)}.")
    return told


def unknown_clocks(clocks: pl.DataFrame) -> list[str]:
    """Return the clocks that nothing connects to the others, in order.

    Args:
        clocks: Rows of ClockOffsets.
    """
    lost = clocks.filter(pl.col("state") == "unknown")
    return sorted(lost["clock"].unique())


def _clocks(lost: list[str]) -> str:
    names = listed([name(clock, 24) for clock in lost])
    return f"clock of {names}" if len(lost) == 1 else f"clocks of {names}"


def paragraphs(clocks: pl.DataFrame) -> list[str]:
    """Return what was done to times, and what cannot be.

    Args:
        clocks: Rows of ClockOffsets.
    """
    told = []
    moved = clocks.filter("is_corrected")
    if moved.height:
        told.append(f"{_moved(moved)} {_SCATTER}")
    lost = unknown_clocks(clocks)
    if lost:
        told.append(
            f"Nothing connects the {_clocks(lost)} to the others: {_why(clocks)}."
            " Waits across them are told only of collectives whose ends are within"
            f" {duration(ENDS_NS)}, as far as ranks leave apart."
        )
    return [*told, *_set_wrong(clocks)]


def _why(clocks: pl.DataFrame) -> str:
    """Return why clocks are unknown: few collectives, or none in time."""
    lost = clocks.filter(pl.col("state") == "unknown")
    is_apart = lost["reason"].str.starts_with("no collective").fill_null(value=False)
    few = "too few collectives that all leave together"
    apart = (
        "the collectives that they share with others are over a minute apart, so that"
        " clocks are wrong or the traces of other times"
    )
    return " or ".join(
        why
        for why, holds in ((few, not is_apart.all()), (apart, is_apart.any()))
        if holds
    )


def _set_wrong(clocks: pl.DataFrame) -> list[str]:
    """Return which clocks are off by more than clocks drift, if any are."""
    far = pl.col("offset_ns").abs() > SET_WRONG_NS
    wrong = sorted(clocks.filter(far)["clock"].unique())
    if not wrong:
        return []
    return [
        (
            f"Over a minute off: the {_clocks(wrong)}. No clock drifts so far: it is"
            " set wrong, or takes the time of its zone for UTC. Waits are corrected;"
            " what is placed by time alone may be in another attempt."
        )
    ]


def _moved(moved: pl.DataFrame) -> str:
    order = [pl.col("offset_ns").abs(), pl.col("clock")]
    most = moved.sort(order, descending=[True, False]).row(0, named=True)
    way = "ahead of" if most["offset_ns"] > 0 else "behind"
    far = f"{duration(abs(most['offset_ns']))} {way} {name(most['reference_clock'])}"
    drifts = [abs(drift) for drift in moved["drift_ppm"].drop_nulls()]
    drift = f"; drifts reach {significant(max(drifts))} ppm" if drifts else ""
    clocks = moved["clock"].n_unique()
    if clocks == 1:
        drift = drift.replace("drifts reach", "its drift reaches")
        return f"The clock of {name(most['clock'])} was corrected: it is {far}{drift}."
    return (
        f"Times of {plural(clocks, 'clock')} were corrected, {name(most['clock'])} by"
        f" the most: it is {far}{drift}."
    )
