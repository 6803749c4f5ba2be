"""Files of a run whose old days go into a lake: written once, and known again."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from ingest.errors import SettingError
from ingest.synthetic.cluster._power_meters import Counters
from ingest.synthetic.cluster.scenario import Scenario
from pipeline import generating
from pipeline.generating import Request
from pipeline.logs import Say

#: Raised when a scenario makes other steps or samples than before.
MADE: Final = 3

#: Says in a run's folder whether its files are all there.
MARK: Final = ".generated.json"

#: What counters of energy show before each day.
_COUNTERS: Final = ".generated-counters.npy"

#: Samples of power of the day that is condensed.
SPOOL: Final = ".power"


def refuse_nested(lake: Path, made: Path) -> None:
    """Refuse a lake in the folder of a run, and a run in the folder of a lake.

    Raises:
        SettingError: If one is in the other, or both are one.
    """
    home, folder = lake.resolve(), made.resolve()
    if home.is_relative_to(folder) or folder.is_relative_to(home):
        message = (
            f"--into {lake}: expected a lake that neither is in {made} nor has it in;"
            " name another folder"
        )
        raise SettingError(message)


def clear(made: Path) -> None:
    """Remove samples that a killed process set aside."""
    for left in made.glob(f"{SPOOL}*"):
        shutil.rmtree(left, ignore_errors=True)


def write(scenario: Scenario, folder: Path, request: Request, say: Say) -> Counters:
    """Write the run's files, unless they are all there.

    Returns:
        Days x GPUs: what counters of energy show before each day. [mJ]
    """
    target = folder / scenario.run_id
    mark, counters = target / MARK, target / _COUNTERS
    asked = {"key": key_of(scenario), "request": msgspec.to_builtins(request)}
    known = json.loads(mark.read_text("utf-8")) if mark.exists() else None
    if known is None:
        generating.refuse_there(target)
        target.mkdir(parents=True, exist_ok=True)
    elif known["asked"] != asked:
        message = f"{target}: of another scenario or time; name another folder"
        raise SettingError(message)
    elif known["whole"]:
        found: Counters = np.load(counters)
        return found
    mark.write_text(json.dumps({"asked": asked, "whole": False}), "utf-8")
    written = generating.write(scenario, folder, request, say)
    shown = np.array([*written.counters.values()], np.int64)
    np.save(counters, shown)
    mark.write_text(json.dumps({"asked": asked, "whole": True}), "utf-8")
    return shown


def key_of(scenario: Scenario) -> str:
    """Return what stands for all that a scenario makes."""
    said = json.dumps([MADE, msgspec.to_builtins(scenario)], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()
