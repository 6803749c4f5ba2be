"""The command line: where every error ends, as one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

import cyclopts

from ingest.errors import TelemetryError
from pipeline.commands import COMMANDS
from pipeline.commands._shared import DONE, FAILED, INTERRUPTED, MISUSED
from pipeline.logs import one_line, say

app = cyclopts.App(
    name="gpuledger",
    help="Where every GPU-second of a training run went, why, and what it cost.",
    version=version("gpuledger"),
    help_format="plaintext",
    default_parameter=cyclopts.Parameter(show_default=False),
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
        code = app(
            tokens,
            print_error=False,
            exit_on_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
    except cyclopts.CycloptsError as error:
        reason = one_line(str(error)).rstrip(".")
        say(f"gpuledger: {reason}; see gpuledger --help")
        return MISUSED
    except TelemetryError as error:
        say(f"gpuledger: {one_line(str(error))}")
        return FAILED
    except KeyboardInterrupt:
        say("gpuledger: stopped; what was committed stays, run it again for the rest")
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read the answer has enough: leave without a word
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        name = one_line(str(error.filename or "the file system"))
        say(f"gpuledger: {name}: {error.strerror}; make room or give access")
        return FAILED
    return code if isinstance(code, int) else DONE
