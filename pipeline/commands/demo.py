"""`gpuledger demo`: the main job over the packaged sample run."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from ingest.errors import TelemetryError
from pipeline.commands._shared import COMMON, Common
from pipeline.commands.run import run

#: Lake of the demonstration, so that it never mixes with a lake of real telemetry.
DEMO_LAKE: Final = Path("gpuledger-demo")

#: Folder of the sample run inside sample_traces.
SAMPLE: Final = "pod16"


def demo(*, common: Common = COMMON) -> int:
    """Run the main job over the sample run, into ./gpuledger-demo.

    Example: gpuledger demo

    Args:
        common: What every command takes; --lake names another folder.
    """
    lake = common.lake or DEMO_LAKE
    return run(sample_folder(), common=replace(common, lake=lake))


def sample_folder() -> Path:
    """Return the sample run: in the package where it was built, else in the checkout.

    Raises:
        TelemetryError: If it is in neither place.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package / "sample_traces", package.parent / "sample_traces")
    for place in places:
        if (place / SAMPLE).is_dir():
            return place / SAMPLE
    message = f"{places[0]}: no sample run there; install gpuledger again"
    raise TelemetryError(message)
