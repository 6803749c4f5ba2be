"""The command line: where every error ends, as one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

import cyclopts

from ingest.errors import TelemetryError, UsageError
from pipeline._repeated import each_fix_once
from pipeline._words import told_apart
from pipeline.commands import COMMANDS
from pipeline.commands._shared import (
    COMMON,
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    settings_of,
)
from pipeline.logs import one_line, say

app = cyclopts.App(
    name="gpuledger",
    help="Where every GPU-second of a training run went, why, and what it cost.",
    version=version("gpuledger"),
    help_format="plaintext",
    default_parameter=cyclopts.Parameter(show_default=False),
    suppress_keyboard_interrupt=False,
)
for command in COMMANDS:
    app.command(command)


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run_tokens(sys.argv[1:]))


def run_tokens(tokens: Sequence[str]) -> int:
    """Run one command and return its exit code.

    Args:
        tokens: What stands behind the program's name.
    """
    try:
        return _run(each_fix_once(told_apart(tokens)))
    except (cyclopts.CycloptsError, UsageError) as error:
        reason = one_line(str(error)).rstrip(".")
        say(f"gpuledger: {reason}; see {_help_for(tokens)}")
        return MISUSED
    except TelemetryError as error:
        say(f"gpuledger: {one_line(str(error))}")
        return FAILED
    except KeyboardInterrupt:
        say("gpuledger: stopped; what was committed stays, run it again for the rest")
        return INTERRUPTED
    except OSError as error:
        return _of_system(error)
    except _broken():
        say(f"gpuledger: {one_line(_damage_for(tokens))}")
        return FAILED


def _run(tokens: Sequence[str]) -> int:
    code = app(
        tokens, print_error=False, exit_on_error=False, result_action="return_value"
    )
    sys.stdout.flush()
    return code if isinstance(code, int) else DONE


def _broken() -> tuple[type[BaseException], ...]:
    # asked for only when nothing above has caught an error: Polars takes long to load
    from ingest.lake import BROKEN

    return BROKEN


def _damage_for(tokens: Sequence[str]) -> str:
    """Name the part of the lake that cannot be read; raise again if all can be."""
    from ingest.lake import refuse_damaged

    words = told_apart(tokens)
    _, bound, _ = app.parse_args(words, print_error=False, exit_on_error=False)
    try:
        refuse_damaged(settings_of(bound.arguments.get("common", COMMON)).lake)
    except TelemetryError as damage:
        return str(damage)
    raise  # noqa: PLE0704 - the error that is handled by the caller


def _of_system(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        # whoever read the answer has enough: leave without a word
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    name = one_line(str(error.filename or "the file system"))
    reason = one_line(error.strerror or str(error))
    say(f"gpuledger: {name}: {reason}; check the path, its access and the room there")
    return FAILED


def _help_for(tokens: Sequence[str]) -> str:
    names = {command.__name__ for command in COMMANDS}
    command = f" {tokens[0]}" if tokens and tokens[0] in names else ""
    return f"gpuledger{command} --help"
