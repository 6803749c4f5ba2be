"""What is not known of work: time, traces, slow ranks, collectives."""

import polars as pl

from analysis import Frames
from analysis.collective_waits import CollectiveWaits
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.stragglers import StragglerTests
from ingest.tables import Operations
from reports import _ledger_shown, _runs, _slow_ranks
from reports._blind_spot import BlindSpot
from reports._numbers import duration, grouped
from reports._section import Scope
from reports._words import listed, name, plural


def unattributed(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the time paid for of which nothing is known."""
    accounts, unit = _ledger_shown.on_page(frames, scope)
    unknown = _ledger_shown.of(accounts, "unattributed")
    if not unknown.gpu_ns:
        return None
    return BlindSpot(
        "Time paid for without evidence",
        f"{unknown.said_share()}, {unknown.said_time(unit)}",
        "a step log with waits, or traces of more ranks",
    )


def unpaid(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the runs in no account, where others are in some."""
    found = _runs.unpaid(frames, scope)
    if not found:
        return None
    runs = listed([name(run_id, 30) for run_id in found])
    be = "is" if len(found) == 1 else "are"
    return BlindSpot(
        "When runs held their GPUs",
        f"{runs} {be} in no account",
        "scheduler jobs (sacct), a step log or traces of them",
    )


def upper_bound(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the time of which only step durations tell."""
    shares = _ledger_shown.by_basis(frames, scope)
    if "step_duration_upper_bound" not in shares:
        return None
    return BlindSpot(
        "What happens inside steps that only a duration tells",
        f"{shares['step_duration_upper_bound']} of the time paid for:"
        " productive is an upper bound",
        "waits and stalls in the step log, or traces",
    )


def untraced(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the GPUs without a trace, of runs in some account."""
    traced = scope.of_runs(frames[Overlap]).select("run_id", "rank").unique()
    seen = traced.drop_nulls().group_by("run_id").agg(seen=pl.len())
    both = (
        scope.of_runs(frames[Runs])
        .join(_told_by_operations(frames, scope), on="run_id", how="anti")
        .filter(~pl.col("run_id").is_in(_runs.unpaid(frames, scope)))
        .select("run_id", "gpu_count")
        .join(seen, on="run_id", how="left")
        .select(pl.col("gpu_count").sum(), pl.col("seen").fill_null(0).sum())
        .collect()
    )
    gpus, ranks = both.row(0) if both.height else (0, 0)
    if not gpus or ranks >= gpus:
        return None
    return BlindSpot(
        "What untraced GPUs did inside a step",
        f"{grouped(gpus - ranks)} of {plural(gpus, 'GPU')} without a trace",
        "profiler traces of more ranks",
    )


def untested(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the ranks that no test could tell slow or not."""
    rows = scope.of_runs(frames[StragglerTests])
    sums = rows.select(pl.col("ranks_tested").sum(), pl.col("ranks_untested").sum())
    tested, untested = sums.collect().row(0)
    if not untested:
        return None
    return BlindSpot(
        "Whether a rank was slow",
        f"{grouped(untested)} of {plural(tested + untested, 'rank')} not testable",
        f"waits of at least four peers, over {_slow_ranks.fewest_steps(scope)} steps",
    )


def clocks(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the waits that clocks cannot tell."""
    waits = scope.of_runs(frames[CollectiveWaits]).select(
        residual=pl.col("clock_residual_ns").median(),
        below=(pl.col("wait_ns_max") < pl.col("clock_residual_ns")).sum(),
        waits=pl.col("wait_ns_max").count(),
    )
    residual, below, seen = waits.collect().row(0)
    if not residual:
        return None
    return BlindSpot(
        "Waits shorter than clocks of nodes differ",
        f"clock residual {duration(residual)} (median);"
        f" {grouped(below)} of {plural(seen, 'wait')} below theirs",
        "clocks kept by PTP, or longer profiles",
    )


def workers(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the workers of which nobody tells how many GPUs each is.

    Traces that place workers by replica and stage alone record one of several GPUs.
    """
    untold = scope.of_runs(frames[Runs]).filter(Runs.tp.col.is_null())
    placed = (
        scope.of_runs(frames[Operations])
        .group_by("run_id")
        .agg(
            pl.col("dp_rank", "pp_rank").count(),
            tp=pl.col("tp_rank").count(),
            workers=pl.struct("dp_rank", "pp_rank").n_unique(),
        )
        .filter((pl.col("dp_rank") > 0) & (pl.col("pp_rank") > 0) & (pl.col("tp") == 0))
    )
    found = placed.join(untold, on="run_id", how="semi").select(pl.col("workers").sum())
    count = int(found.collect().item() or 0)
    if not count:
        return None
    return BlindSpot(
        "How many GPUs each worker is",
        f"{plural(count, 'worker')} recorded, tp not told: each counts as one GPU",
        "tp in a run card: GPUs are workers times tp",
    )


def incomplete(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the collectives with missing ranks."""
    row = (
        scope.of_runs(frames[CollectiveWaits])
        .select(
            pl.len(),
            open=(pl.col("ranks_seen") < pl.col("ranks_expected")).sum(),
        )
        .collect()
        .row(0)
    )
    if not row[1]:
        return None
    return BlindSpot(
        "Who was late in collectives with missing ranks",
        f"{grouped(row[1])} of {plural(row[0], 'collective')} incomplete",
        "traces of all ranks of a group, over the same steps",
    )


def _told_by_operations(frames: Frames, scope: Scope) -> pl.LazyFrame:
    """Return the runs of which traced operations tell all the time."""
    is_told = LostTime.basis.col.str.starts_with("operations").all()
    by_run = scope.of_runs(frames[LostTime]).group_by("run_id").agg(is_told=is_told)
    return by_run.filter("is_told")
