"""`gpuledger generate`: a synthetic cluster of known truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from pipeline.commands._shared import COMMON, DONE, PARTIAL, Common, answer

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario
    from pipeline.generating import Request


#: No day but the last is kept raw.
NONE_KEPT: Final = "0d"


def generate(  # noqa: PLR0913 - options of a command
    scenario: str,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    *,
    format: Literal["raw", "csv", "lake"] = "raw",  # noqa: A002 - the option's name
    seed: int | None = None,
    days: int | None = None,
    hours: float | None = None,
    interval: float = 15.0,
    traces: int = 0,
    trace: Path | None = None,
    into: Path | None = None,
    keep_raw: str = NONE_KEPT,
    common: Common = COMMON,
) -> int:
    """Write the telemetry of a synthetic cluster, and the truth about it.

    Example: gpuledger generate sample -o made/ --format lake

    Args:
        scenario: A scenario of the project by its name, or a TOML file.
        output: Where the run's folder and truth.json go.
        format: Text as tools leave it, with steps as JSON lines (raw) or CSV; or
            Parquet with the columns of the lake, which is far faster to read (lake).
        seed: Seed instead of the scenario's.
        days: Days instead of the calendar's.
        hours: Hours from the calendar's beginning that are written; all without.
        interval: Seconds between two samples of power; 0: no power.
        traces: Ranks with a profiler trace.
        trace: A real trace that those are made of, moved in place and time.
        into: A lake that is filled and analysed: old days are made in memory and kept
            as rollups only; files are all others, and steps and power of the last days.
            After a stop the same command goes on.
        keep_raw: Days before the last whose steps and power are files and raw rows of
            the lake, too, such as 1d; with --into.
        common: What every command takes.
    """
    from ingest.errors import UsageError
    from ingest.synthetic.cluster.scenario import load_scenario
    from pipeline import generating

    if into is None and keep_raw != NONE_KEPT:
        message = "--keep-raw is of a lake that is filled; give --into, too"
        raise UsageError(message)
    form: generating.Format = "parquet" if format == "lake" else format
    request = generating.Request(form, hours, interval, traces, trace)
    made = load_scenario(scenario, seed=seed, days=days)
    if into is not None:
        return _fill(made, output, request, (into, keep_raw), common)
    done = generating.generate(made, output, request, common.say)
    answer(
        f"{output / made.run_id}: {done.steps:,} rows of steps, {done.power:,} samples"
        f" of power, {done.checkpoints:,} checkpoints, {done.log_lines:,} lines of"
        f" logs, {done.traces:,} traces; the truth is in {output / 'truth.json'}"
    )
    return DONE


def _fill(
    made: "Scenario",
    folder: Path,
    request: "Request",
    target: tuple[Path, str],
    common: Common,
) -> int:
    """Generate into a lake."""
    from pipeline import compacting, filling, settings

    lake, keep_raw = target
    keep = compacting.days_of(keep_raw)
    in_force = settings.load(lake=lake)
    into = filling.Target(in_force, keep)
    done = filling.fill(made, folder, request, into, common.say)
    for line in (*done.ingested.lines(), *done.analyzed.lines()):
        common.say(line)
    answer(
        f"{lake}: {done.rows:,} rows of steps of {done.days:,} days as rollups; files"
        f" are in {folder / made.run_id}; the truth is in {folder / 'truth.json'}"
    )
    return PARTIAL if done.ingested.is_partial else DONE
