"""What is said of the clocks of a window."""

from typing import Final

import numpy as np
import polars as pl

from analysis._clock_fit import Fit
from ingest.phrases import phrase

#: Ranks leave a collective up to some 20 us apart, some always later than others: an
#: offset within that is none. [ns]
EXIT_NS: Final = 20_000

#: Standard errors that an offset may be off. [1]
MOST_ERRORS: Final = 3.0

#: Why a clock is not known that others share collectives with.
_LOST: Final = (
    "no collective is shared in time: all that it shares with others are over a minute"
    " apart, so its clock is wrong, or it was traced at another time"
)

#: From a quotient to parts in a million. [1]
_PPM: Final = 1e6


def told(clocks: pl.DataFrame, fit: Fit, least_count: int) -> pl.DataFrame:
    """Say what is known of each clock, and why not more.

    Args:
        clocks: The clocks of a window, as they were numbered for the fit; times
            without their coarse_ns.
        fit: What is known of them.
        least_count: Collectives that a clock had to be seen in. [1]
    """
    names = clocks["clock"].to_numpy()
    found = pl.DataFrame(
        {
            "component": fit.graph.component,
            "reference": fit.graph.reference,
            "reference_clock": names[fit.graph.reference],
            "offset": fit.offset_ns,
            "drift": fit.drift,
            "has_drift": fit.has_drift,
            "residual": fit.residual_ns,
            "residual_max": fit.residual_max_ns,
            "unsure": _uncertainty(fit),
            "collectives_count": fit.count,
        },
        schema_overrides={"reference_clock": pl.String},
    )
    rows = pl.concat([clocks, found], how="horizontal")
    coarse = pl.col("coarse_ns")
    far = rows.with_columns(
        offset=pl.col("offset") + coarse - coarse.gather("reference")
    )
    states = far.with_columns(**_states(least_count), **_measures())
    judged = states.with_columns(is_corrected=_is_corrected())
    return judged.with_columns(pl.col("from_ns", "to_ns", "reference_ns") + coarse)


def _uncertainty(fit: Fit) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what each offset may be off: it adds up on the way to the reference."""
    way = np.sqrt(np.maximum(fit.graph.hops, 1))
    return np.asarray(way * np.hypot(EXIT_NS, MOST_ERRORS * fit.error_ns))


def _states(least_count: int) -> dict[str, pl.Expr]:
    is_main = (pl.col("component") == 0) & ~pl.col("is_lost")
    is_own = pl.col("reference") == pl.col("number")
    main = pl.col("clock").filter(is_main & is_own).first()
    few = phrase(
        "fewer than {} collectives that all leave together connect it to {}",
        pl.lit(str(least_count)),
        main,
    )
    state = (
        pl.when(~is_main)
        .then(pl.lit("unknown"))
        .when(is_own)
        .then(pl.lit("reference"))
        .otherwise(pl.lit("estimated"))
    )
    reason = pl.when("is_lost").then(pl.lit(_LOST)).when(~is_main).then(few)
    return {"state": state, "reason": reason}


def _measures() -> dict[str, pl.Expr]:
    """Return offsets; a clock that is alone in its component has none."""
    is_seen = pl.col("collectives_count") > 0
    is_own = pl.col("reference") == pl.col("number")
    is_main = (pl.col("component") == 0) & ~pl.col("is_lost")
    exact = pl.when(is_own & (is_seen | is_main)).then(0)
    whole = {"offset_ns": "offset", "uncertainty_ns": "unsure"}
    found = {
        name: pl.coalesce(exact, pl.when(is_seen).then(_whole(of)))
        for name, of in whole.items()
    }
    spread = {"residual_ns": "residual", "residual_max_ns": "residual_max"}
    left = {name: pl.when(is_seen).then(_whole(of)) for name, of in spread.items()}
    drift = pl.when("has_drift").then(pl.col("drift") * _PPM)
    return found | left | {"drift_ppm": drift}


def _whole(name: str) -> pl.Expr:
    return pl.col(name).round().cast(pl.Int64)


def _is_corrected() -> pl.Expr:
    """Return whether an offset is taken out.

    It is where it is beyond its uncertainty anywhere in the window. A host has a clock
    of its own: once one clock is beyond, the best that is known of every host counts.
    Traces of which nobody tells the host may share a clock, and are left as they are.
    """
    until = pl.max_horizontal(
        pl.col("reference_ns") - pl.col("from_ns"),
        pl.col("to_ns") - pl.col("reference_ns"),
    )
    reach = pl.col("offset").abs() + (pl.col("drift") * until).abs()
    beyond = (reach > pl.col("uncertainty_ns")).fill_null(value=False)
    is_own = pl.col("reference") == pl.col("number")
    is_host = pl.col("host").is_not_null() & ~is_own
    return beyond | (is_host & beyond.any().over("component"))
