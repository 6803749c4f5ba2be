"""`gpuledger replay`: a recorded run, as if it were written now."""

from pathlib import Path

from pipeline.commands._shared import (
    COMMON,
    DONE,
    PARTIAL,
    READING,
    Common,
    Reading,
    Switch,
    answer,
    settings_of,
)


def replay(  # noqa: PLR0913 - options of a command
    folder: Path,
    *,
    into: Path,
    speed: float = 3600.0,
    rotate: str | None = None,
    until: str | None = None,
    whole_lines: Switch = False,
    reading: Reading = READING,
    common: Common = COMMON,
) -> int:
    """Release recorded files into an inbox in their own time order.

    Started again, it goes on, and releases what was added to the recording.
    An inbox may be emptied on the way: what is gone is named and does not come
    again, and a log that grows begins another. More than a day without a line
    is passed over.

    Example: gpuledger replay recorded/ --into inbox/ --speed 3600

    Args:
        folder: Folder of a recorded or generated run.
        into: Folder where its files appear; new, or that of a replay to go on with.
        speed: Simulated seconds in a second: at 3600 a day passes in 24 s.
        rotate: How often logs are rotated, in simulated hours, such as 6h.
        until: Simulated date or time in UTC at which to stop; run again to go on.
        whole_lines: Let growing files end at the end of a line, not within one.
        reading: How files are read, for their times.
        common: What every command takes.
    """
    from ingest.errors import SettingError
    from ingest.replay import Replay, holding
    from pipeline import replaying

    if not 0 < speed < float("inf"):
        message = f"--speed {speed}: expected simulated seconds in a second, above 0"
        raise SettingError(message)
    until_ns = None if until is None else replaying.instant_of(until)
    rotate_ns = None if rotate is None else replaying.hours_of(rotate)
    with holding(folder, into):
        common.say(f"{folder}: reading when each line was written")
        options = reading.options(settings_of(common, reading))
        run = Replay(
            folder, into, options, rotate_ns=rotate_ns, cuts_lines=not whole_lines
        )
        for path, reason in run.unreadable:
            common.say(f"{path}: {reason}; left out")
        done = replaying.Pace(run, speed, common.say).run(until_ns)
    answer(
        f"{done.bytes:,} bytes released until {replaying.at(run.now_ns)};"
        f" {run.files} files, {run.left} of them not yet whole"
    )
    return PARTIAL if run.unreadable else DONE
