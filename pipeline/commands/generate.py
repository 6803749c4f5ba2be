"""`gpuledger generate`: a synthetic cluster of known truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter, Token

from pipeline.commands._shared import (
    COMMON,
    DONE,
    INTERRUPTED,
    PARTIAL,
    Common,
    Switch,
    answer,
)
from pipeline.logs import say

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario
    from pipeline.generating import Request


#: No day but the last is kept raw.
NONE_KEPT: Final = "0d"

#: Time between two samples of power. [s]
INTERVAL_S: Final = 15.0


def _folder(_: object, tokens: Sequence[Token]) -> Path:
    """Return the folder of an option; one without a name is none."""
    (token,) = tokens
    if not token.value:
        message = "expected the name of a folder"
        raise ValueError(message)
    return Path(token.value)


#: A folder: `` is none, not the working folder.
_Folder = Annotated[Path | None, Parameter(converter=_folder, n_tokens=1)]


def generate(  # noqa: PLR0913 - options of a command
    scenario: str,
    output: Annotated[_Folder, Parameter(name=("--output", "-o"))] = None,
    *,
    print: Switch = False,  # noqa: A002 - the option's name
    format: Literal["raw", "csv", "lake"] | None = None,  # noqa: A002 - the same
    seed: int | None = None,
    days: int | None = None,
    hours: float | None = None,
    interval: float = INTERVAL_S,
    traces: int = 0,
    trace: Path | None = None,
    into: _Folder = None,
    keep_raw: str = NONE_KEPT,
    common: Common = COMMON,
) -> int:
    """Write the telemetry of a synthetic cluster, and the truth about it.

    Example: gpuledger generate sample -o made/ --format lake

    A scenario of your own: gpuledger generate sample --print > mine.toml, edit it, and
    gpuledger generate mine.toml -o made/.

    Args:
        scenario: A scenario of the project by its name (sample, pod, healthy, llama3),
            or a TOML file.
        output: Where the run's folder and truth.json go.
        print: Write no telemetry, but the scenario itself as TOML with all keys, what
            they mean, their units, bounds and defaults.
        format: Text as tools leave it, with steps as JSON lines (raw) or CSV; or
            Parquet with the columns of the lake, which is far faster to read (lake).
            Raw without; with --into always lake.
        seed: Seed instead of the scenario's.
        days: Days instead of the calendar's.
        hours: Hours from the calendar's beginning in which all ends; all without.
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
    from ingest.synthetic.cluster.scenario import load_scenario
    from pipeline import generating

    given = {
        "--output": output,
        "--format": None if format == "lake" and into else format,
        "--hours": hours,
        "--interval": None if interval == INTERVAL_S else interval,
        "--traces": traces or None,
        "--trace": trace,
        "--into": into,
        "--keep-raw": None if keep_raw == NONE_KEPT else keep_raw,
        "--lake": common.lake,
    }
    named = {name for name, value in given.items() if value is not None}
    _refuse(named, is_printed=print)
    made = load_scenario(scenario, seed=seed, days=days)
    if output is None:
        return _print(made)
    form: generating.Format = "parquet" if format == "lake" else format or "raw"
    request = generating.Request(form, hours, interval, traces, trace)
    if into is not None:
        return _fill(made, output, request, (into, keep_raw), common)
    return _generate(made, output, request, common)


def _refuse(named: set[str], *, is_printed: bool) -> None:
    """Refuse options that mean nothing together.

    Args:
        named: Those that were given; of formats only those that a lake is not filled
            from, where one is filled.
        is_printed: Whether the scenario alone is asked for.

    Raises:
        UsageError: If there are some.
    """
    from ingest.errors import UsageError

    message = ""
    if is_printed and named:
        message = (
            f"--print writes the scenario alone; leave out {', '.join(sorted(named))}"
        )
    elif not is_printed and "--output" not in named:
        message = "--output: expected a folder for what is made; or give --print"
    elif "--lake" in named:
        message = "--lake: nothing is read of a lake; name one to fill by --into"
    elif "--keep-raw" in named and "--into" not in named:
        message = "--keep-raw is of a lake that is filled; give --into, too"
    elif {"--into", "--format"} <= named:
        message = "--format: a lake is filled from Parquet alone; leave it out"
    if message:
        raise UsageError(message)


def _print(made: "Scenario") -> int:
    """Write a scenario's file to stdout."""
    from ingest.synthetic.cluster.scenario_text import scenario_lines

    for line in scenario_lines(made):
        answer(line)
    return DONE


def _generate(
    made: "Scenario", folder: Path, request: "Request", common: Common
) -> int:
    """Generate files."""
    from pipeline import generating

    try:
        done = generating.generate(made, folder, request, common.say)
    except KeyboardInterrupt:
        say("gpuledger: stopped; nothing of it stays, run it again to begin anew")
        return INTERRUPTED
    answer(
        f"{folder / made.run_id}: {done.steps:,} rows of steps, {done.power:,} samples"
        f" of power, {done.checkpoints:,} checkpoints, {done.log_lines:,} lines of"
        f" logs, {done.traces:,} traces; the truth is in {folder / 'truth.json'}"
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
    into = filling.Target(in_force, keep, wait=common.wait)
    done = filling.fill(made, folder, request, into, common.say)
    for line in (*done.ingested.lines(), *done.analyzed.lines()):
        common.say(line)
    answer(
        f"{lake}: {done.rows:,} rows of steps of {done.days:,} days as rollups; files"
        f" are in {folder / made.run_id}; the truth is in {folder / 'truth.json'}"
    )
    return PARTIAL if done.ingested.is_partial else DONE
