"""`gpuledger generate`: a synthetic cluster of known truth."""

from pathlib import Path
from typing import Literal

from pipeline.commands._shared import COMMON, DONE, Common, answer


def generate(  # noqa: PLR0913 - options of a command
    scenario: str,
    folder: Path,
    *,
    format: Literal["raw", "csv", "parquet"] = "raw",  # noqa: A002 - the option's name
    seed: int | None = None,
    days: int | None = None,
    hours: float | None = None,
    interval: float = 15.0,
    traces: int = 0,
    trace: Path | None = None,
    common: Common = COMMON,
) -> int:
    """Write the telemetry of a synthetic cluster, and the truth about it.

    Example: gpuledger generate sample made/ --format raw

    Args:
        scenario: A scenario of the project by its name, or a TOML file.
        folder: Where the run's folder and truth.json go.
        format: Text as tools leave it, with steps as JSON lines (raw) or CSV; or
            Parquet.
        seed: Seed instead of the scenario's.
        days: Days instead of the calendar's.
        hours: Hours from the calendar's beginning that are written; all without.
        interval: Seconds between two samples of power; 0: no power.
        traces: Ranks with a profiler trace.
        trace: A real trace that those are made of, moved in place and time.
        common: What every command takes.
    """
    from ingest.synthetic.cluster.scenario import load_scenario
    from pipeline import generating

    request = generating.Request(format, hours, interval, traces, trace)
    made = load_scenario(scenario, seed=seed, days=days)
    done = generating.generate(made, folder, request, common.say)
    answer(
        f"{folder / made.run_id}: {done.steps:,} rows of steps, {done.power:,} samples"
        f" of power, {done.checkpoints:,} checkpoints, {done.log_lines:,} lines of"
        f" logs, {done.traces:,} traces; the truth is in {folder / 'truth.json'}"
    )
    return DONE
