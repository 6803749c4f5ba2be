"""Sentences about rates: the finding, peers, changes, gaps."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.interrupt_rates import FEW_EVENTS
from analysis.interruption_gaps import InterruptionGapFits
from analysis.rate_changes import RateChanges
from analysis.rate_comparisons import RateComparisons
from reports._numbers import duration, significant
from reports._rate_shown import Row, chance, mean_time, of_row
from reports._section import Scope
from reports._words import listed, name, plural, said

_VERDICTS: Final = {
    "higher": "more than",
    "lower": "less than",
    "not_told_apart": "not told apart from",
}

_COMPARISONS: Final = {"week": "week", "half": "the", "date": "since"}


def heading(row: Row, frames: Frames) -> str:
    """Return the finding: how often a run is interrupted, and beside whom.

    Args:
        row: The rate that the page leads with.
        frames: The tables.
    """
    count, observed = row["count"], duration(row["exposure_ns"])
    who = name(row["run_id"], 30)
    between = f"the mean time between them is {mean_time(row)} (95 %)."
    if not count:
        return f"No unplanned interruption in {observed} that {who} was up: {between}"
    if count < FEW_EVENTS:
        return (
            f"{plural(count, 'unplanned interruption')} in {observed} that {who} was"
            f" up: too few for a rate; {between}"
        )
    rate = row["per_1000_node_days"]
    told = f": {significant(rate)} per 1000 node-days" if rate is not None else ""
    return f"One interruption in {mean_time(row)} of {who}{told}{_beside(row, frames)}."


def _beside(row: Row, frames: Frames) -> str:
    """Say how the rate stands to published ones, each beside the rate of the same."""
    rows = _comparisons(row, frames).with_columns(pl.col("category").fill_null("all"))
    told = rows.filter(pl.col("verdict").is_in(list(_VERDICTS)))
    others = told.filter(pl.col("category") != "all")
    clauses = [_against(told.filter(pl.col("category") == "all"))]
    for part in others.partition_by("category", maintain_order=True):
        causes = str(part["category"][0]).split("+")
        ours = significant(part["per_1000_node_days"][0])
        clauses.append(f"; {ours} by {listed(causes)}{_against(part)}")
    return "".join(clauses)


def _against(rows: pl.DataFrame) -> str:
    """Say which published rates some rate is above, below or not told apart from."""
    parts = []
    for verdict, words in _VERDICTS.items():
        peers = rows.filter(pl.col("verdict") == verdict)
        if peers.height:
            names = [
                f"{peer} ({significant(value)})"
                for peer, value in peers.select(
                    "peer", "peer_per_1000_node_days"
                ).iter_rows()
            ]
            parts.append(f"{words} {listed(names)}")
    return f", {listed(parts)}" if parts else ""


def _comparisons(row: Row, frames: Frames) -> pl.DataFrame:
    of_run = frames[RateComparisons].filter(
        (pl.col("run_id") == row["run_id"])
        & (pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
    )
    return of_run.sort("peer_per_1000_node_days", "peer", descending=True).collect()


def paragraphs(row: Row, frames: Frames, scope: Scope) -> list[str]:
    """Return what is said below the heading.

    Args:
        row: The rate that the page leads with.
        frames: The tables.
        scope: Runs of the page.
    """
    told = [_counts(row, frames), _changes(frames, scope), _gaps(row, frames)]
    return [text for text in told if text]


def _counts(row: Row, frames: Frames) -> str:
    """Say what peers count, since rates of different things do not compare."""
    told = _comparisons(row, frames)
    if not told["verdict"].is_in(list(_VERDICTS)).any():
        return ""
    return (
        "Peers count different things: Llama 3 every unplanned stop of one job, Meta's"
        " RSC-1 and RSC-2 job ends laid to hardware or network, and those of ours are"
        f" held against them.{_faults(row, frames)}"
    )


def _faults(row: Row, frames: Frames) -> str:
    """Say how incidents stand to published faults of nodes."""
    rows = frames[RateComparisons].filter(
        (pl.col("run_id") == row["run_id"])
        & (pl.col("level") == "incident")
        & pl.col("verdict").is_in(list(_VERDICTS))
    )
    told = [
        f" InfiniteHBD counts faults of nodes ({significant(peer)}): our incidents,"
        f" {significant(ours)} per 1000 node-days, are {_VERDICTS[verdict]} that."
        for peer, ours, verdict in rows.select(
            "peer_per_1000_node_days", "per_1000_node_days", "verdict"
        )
        .collect()
        .iter_rows()
    ]
    return "".join(told)


def _changes(frames: Frames, scope: Scope) -> str:
    """Say which weeks, halves or dates differ from the rest."""
    rows = scope.of_runs(frames[RateChanges], or_none=False).filter(
        pl.col("scope") == "run"
    )
    tested = rows.filter(pl.col("q_value").is_not_null()).collect()
    if tested.is_empty():
        return (
            "Whether a rate changed was not tested: that takes five events, and two"
            " weeks or a date."
        )
    named = tested.filter(pl.col("verdict").is_in(["rose", "fell"])).sort(
        "q_value", "change_ns", "category"
    )
    if named.is_empty():
        return (
            f"No change: of {plural(tested.height, 'comparison')} (each week with the"
            " rest, the later half with the earlier, by cause) none differs by more"
            " than chance."
        )
    return f"Changed: {listed([_change(one) for one in named.to_dicts()])}."


def _change(one: Row) -> str:
    kind = "" if one["category"] == "all" else f" by {said(one['category'])}"
    ratio = one["rate_ratio"]
    times = f" {significant(ratio, 2)} times" if ratio else ""
    return (
        f"{_COMPARISONS[one['comparison']]} {one['part']}, {one['level']}s{kind}"
        f"{times} the rate of the rest ({chance(one['q_value'])} by chance)"
    )


def _gaps(row: Row, frames: Frames) -> str:
    """Say whether stops come at a constant rate."""
    fits = of_row(frames[InterruptionGapFits], row).collect()
    if fits.is_empty() or fits["weibull_shape"][0] is None:
        return ""
    fit = fits.row(0, named=True)
    shape = (
        f"Weibull shape {significant(fit['weibull_shape'])}"
        f" ({significant(fit['weibull_shape_low'])} to"
        f" {significant(fit['weibull_shape_high'])})"
    )
    odds = f"p = {significant(fit['exponential_p_value'], 2)}"
    trend = (
        f" They have a trend ({chance(fit['trend_p_value'])} by chance)."
        if fit["has_trend"]
        else ""
    )
    if fit["verdict"] == "exponential_holds":
        return f"Stops look random in time ({odds}; {shape}).{trend}"
    how = "in clusters" if fit["verdict"] == "clustered" else "too regularly"
    return (
        f"Stops come {how}, not at random ({odds}; {shape}): means and"
        f" projections hide that.{trend}"
    )
