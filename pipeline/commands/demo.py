"""`gpuledger demo`: the main job over the packaged sample runs."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from ingest.errors import TelemetryError
from pipeline.commands._shared import COMMON, Common
from pipeline.commands.run import run

#: Lake of the demonstration, so that it never mixes with a lake of real telemetry.
DEMO_LAKE: Final = Path("gpuledger-demo")

#: Folders of the sample runs inside sample_traces: together they fill every section.
SAMPLES: Final = ("pod16", "pipe8", "hang16")


def demo(*, common: Common = COMMON) -> int:
    """Run the main job over the sample runs, into ./gpuledger-demo.

    Example: gpuledger demo

    Args:
        common: What every command takes; --lake names another folder.
    """
    lake = common.lake or DEMO_LAKE
    return run(*sample_folders(), common=replace(common, lake=lake))


def sample_folders() -> list[Path]:
    """Return the sample runs: in the package where it was built, else in the checkout.

    Raises:
        TelemetryError: If they are in neither place.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package / "sample_traces", package.parent / "sample_traces")
    for place in places:
        folders = [place / sample for sample in SAMPLES]
        if all(folder.is_dir() for folder in folders):
            return folders
    message = f"{places[0]}: no sample runs there; install gpuledger again"
    raise TelemetryError(message)
