"""Blind spots: what is not known, how much of it, and which file would tell."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from analysis import Frames
from analysis.collective_waits import CollectiveWaits
from analysis.gpus import Gpus
from analysis.interruptions import Interruptions
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.runs import Runs
from analysis.stragglers import StragglerTests
from ingest.tables import Failures, IngestedFiles, PowerSamples
from reports import _ledger
from reports._numbers import compact, duration, grouped, percent
from reports._section import Scope
from reports._words import plural


@dataclass(frozen=True, slots=True)
class BlindSpot:
    """Something that is not known.

    Attributes:
        what: What is not known.
        how_much: How much of it there is.
        mend: What would tell.
    """

    what: str
    how_much: str
    mend: str


def found(frames: Frames, scope: Scope) -> list[BlindSpot]:
    """Return the blind spots that there are, in a fixed order of weight."""
    spots = [look(frames, scope) for look in _LOOKS]
    return [spot for spot in spots if spot is not None]


def _unattributed(frames: Frames, scope: Scope) -> BlindSpot | None:
    accounts = _ledger.accounts(_ledger.by_run(frames, scope), scope)
    paid, unknown = _ledger.paid(accounts), _ledger.of(accounts, "unattributed")
    if not unknown.gpu_ns:
        return None
    unit = _ledger.unit_for(paid.gpu_ns)
    amount = f"{compact(unit.of(unknown.gpu_ns))} {unit.name}"
    return BlindSpot(
        "Time paid for without evidence",
        f"{percent(_ledger.share(unknown, paid))}, {amount}",
        "a step log with waits, or traces of more ranks",
    )


def _upper_bound(frames: Frames, scope: Scope) -> BlindSpot | None:
    row = (
        scope.of_runs(frames[LostTime])
        .select(
            whole=pl.col("gpu_ns").cast(pl.Int128).sum(),
            bound=pl.col("gpu_ns")
            .filter(pl.col("basis") == "step_duration_upper_bound")
            .cast(pl.Int128)
            .sum(),
        )
        .collect()
        .row(0, named=True)
    )
    if not row["bound"]:
        return None
    return BlindSpot(
        "What happens inside steps that only a duration tells",
        f"{percent(Decimal(row['bound']) / row['whole'])} of the time paid for:"
        " productive is an upper bound",
        "waits and stalls in the step log, or traces",
    )


def _untraced(frames: Frames, scope: Scope) -> BlindSpot | None:
    traced = scope.of_runs(frames[Overlap]).select("run_id", "rank").unique()
    seen = traced.drop_nulls().group_by("run_id").agg(seen=pl.len())
    both = (
        scope.of_runs(frames[Runs])
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


def _untested(frames: Frames, scope: Scope) -> BlindSpot | None:
    rows = scope.of_runs(frames[StragglerTests])
    sums = rows.select(pl.col("ranks_tested").sum(), pl.col("ranks_untested").sum())
    tested, untested = sums.collect().row(0)
    if not untested:
        return None
    return BlindSpot(
        "Whether a rank was slow",
        f"{grouped(untested)} of {plural(tested + untested, 'rank')} not testable",
        "steps with waits, at least four peers and 20 steps",
    )


def _clocks(frames: Frames, scope: Scope) -> BlindSpot | None:
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


def _incomplete(frames: Frames, scope: Scope) -> BlindSpot | None:
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


def _unattributed_stops(frames: Frames, scope: Scope) -> BlindSpot | None:
    stops = scope.of_runs(frames[Interruptions]).filter(~pl.col("planned"))
    total, unknown = (
        stops.select(pl.len(), unknown=(pl.col("category") == "unattributed").sum())
        .collect()
        .row(0)
    )
    if not unknown:
        return None
    return BlindSpot(
        "Why runs stopped",
        f"{grouped(unknown)} of {plural(total, 'interruption')} without a cause",
        "kernel logs and health checks of the nodes, with exit codes of jobs",
    )


def _zones(frames: Frames, scope: Scope) -> BlindSpot | None:
    files = scope.of_runs(frames[IngestedFiles], or_none=True)
    assumed = files.filter(IngestedFiles.zone_basis.col == "assumed")
    count = assumed.select(pl.len()).collect().item()
    if not count:
        return None
    return BlindSpot(
        "The time zone of naive time stamps",
        f"{plural(count, 'file')} read as UTC, which nobody declared",
        "--zone, or zone in the run card",
    )


def _undated(frames: Frames, scope: Scope) -> BlindSpot | None:
    rows = frames[Failures].select(pl.len(), undated=pl.col("time_ns").is_null().sum())
    total, undated = rows.collect().row(0)
    if not undated:
        return None
    return BlindSpot(
        "When failures happened",
        f"{grouped(undated)} of {plural(total, 'event')} without a time",
        "logs with dates (dmesg -T, journalctl -o short-iso)",
    )


def _unpowered(frames: Frames, scope: Scope) -> BlindSpot | None:
    nodes = scope.of_runs(frames[Gpus]).select("host").drop_nulls().unique()
    powered = frames[PowerSamples].select("host").drop_nulls().unique()
    total = nodes.select(pl.len()).collect().item()
    missing = nodes.join(powered, on="host", how="anti").select(pl.len())
    without = missing.collect().item()
    if not without:
        return None
    return BlindSpot(
        "What nodes drew",
        f"{grouped(without)} of {plural(total, 'node')} without power telemetry",
        "nvidia-smi CSV or dcgm-exporter text of every node",
    )


def _prices(_: Frames, scope: Scope) -> BlindSpot | None:
    runs = scope.provenance.run_ids or ("",)
    assumed = sum(scope.price(run_id).source == "default" for run_id in runs)
    if not assumed:
        return None
    return BlindSpot(
        "What a GPU-hour costs",
        f"{plural(assumed, 'run')} priced by default,"
        f" {scope.price('').usd_per_gpu_hour:f} USD",
        "usd_per_gpu_hour in the run card or the settings",
    )


#: In order of weight: what hides most money comes first.
_LOOKS: Final[tuple[Callable[[Frames, Scope], BlindSpot | None], ...]] = (
    _unattributed,
    _upper_bound,
    _untraced,
    _untested,
    _unattributed_stops,
    _prices,
    _zones,
    _incomplete,
    _clocks,
    _unpowered,
    _undated,
)
