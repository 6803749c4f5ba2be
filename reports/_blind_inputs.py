"""What inputs leave open: causes, prices, time zones, power, dates."""

import polars as pl

from analysis import Frames
from analysis.energy import Energy
from analysis.gpus import Gpus
from analysis.interruptions import Interruptions
from analysis.power_days import PowerDays
from ingest.tables import Failures, IngestedFiles, PowerSamples
from reports._blind_spot import BlindSpot
from reports._numbers import grouped
from reports._section import Scope
from reports._words import plural


def unattributed_stops(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the stops without a cause."""
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
        "kernel logs of the nodes, and sacct with exit codes of jobs",
    )


def prices(_: Frames, scope: Scope) -> BlindSpot | None:
    """Return the runs priced by default."""
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


def zones(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the files whose time zone was assumed."""
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


def unpowered(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the nodes without power telemetry."""
    nodes = scope.of_runs(frames[Gpus]).select("host").drop_nulls().unique()
    # a UUID tells whose power it is, though its source spells the host otherwise
    measured = scope.of_runs(frames[Energy]).filter(pl.col("samples_count") > 0)
    sampled = (frames[PowerSamples], frames[PowerDays], measured)
    powered = pl.concat(rows.select("host") for rows in sampled).drop_nulls().unique()
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


def undated(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the failures without a time."""
    rows = frames[Failures].select(pl.len(), undated=pl.col("time_ns").is_null().sum())
    total, undated = rows.collect().row(0)
    if not undated:
        return None
    return BlindSpot(
        "When failures happened",
        f"{grouped(undated)} of {plural(total, 'event')} without a time",
        "logs with dates (dmesg -T, journalctl -o short-iso)",
    )
