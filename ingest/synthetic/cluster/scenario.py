"""A scenario: what a synthetic cluster is made of, in a TOML file."""

from pathlib import Path
from typing import Annotated, Final

import msgspec

from ingest.errors import SettingError
from ingest.synthetic.cluster._scenario_checks import contradictions
from ingest.synthetic.cluster._scenario_faults import Fault, FaultsDrawn
from ingest.synthetic.cluster._scenario_parts import (
    Calendar,
    Fleet,
    Layout,
    Model,
    Noise,
    Schedule,
    Word,
)
from ingest.synthetic.cluster._scenario_refusals import refusal

__all__ = [
    "Calendar",
    "Fault",
    "FaultsDrawn",
    "Fleet",
    "Layout",
    "Model",
    "Noise",
    "Scenario",
    "Schedule",
    "load_scenario",
    "packaged",
    "parse_scenario",
]

#: Where the scenarios of the project are, by their names.
_PACKAGED: Final = Path(__file__).parent / "scenarios"


class Scenario(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What a synthetic cluster is made of.

    Attributes:
        seed: Seed of every random draw.
        run_id: Name of the run and of its job.
        cluster: Name of the cluster.
        fleet: Hosts and where they stand.
        layout: How ranks share the work.
        model: What is trained.
        schedule: What a step and a checkpoint take.
        calendar: When the run runs.
        noise: How steps differ on a healthy fleet.
        faults: Faults that are to happen.
        faults_drawn: Faults that are drawn.
    """

    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 1
    run_id: Word = "synthetic"
    cluster: Word = "pod-a"
    fleet: Fleet
    layout: Layout
    model: Model = Model()
    schedule: Schedule = Schedule()
    calendar: Calendar = Calendar()
    noise: Noise = Noise()
    faults: tuple[Fault, ...] = ()
    faults_drawn: FaultsDrawn = FaultsDrawn()

    @property
    def ranks(self) -> int:
        """Ranks of the run."""
        return self.layout.ranks

    @property
    def begun_ns(self) -> int:
        """When the run is submitted. [ns]"""
        return round(self.calendar.begun.timestamp()) * 1_000_000_000


def packaged() -> tuple[str, ...]:
    """Return the names of the scenarios of the project."""
    return tuple(sorted(path.stem for path in _PACKAGED.glob("*.toml")))


def load_scenario(
    name: str, *, seed: int | None = None, days: int | None = None
) -> Scenario:
    """Read a scenario of the project, by its name, or a file.

    Args:
        name: Name or path.
        seed: Seed instead of the file's.
        days: Days instead of the calendar's. [days]

    Raises:
        SettingError: If there is no such scenario, or it cannot be used.
    """
    path = _PACKAGED / f"{name}.toml" if name in packaged() else Path(name)
    try:
        data = path.read_bytes()
    except OSError as error:
        message = (
            f"{name}: no such scenario; name a file, or one of {', '.join(packaged())}"
        )
        raise SettingError(message) from error
    scenario = parse_scenario(data, path)
    if seed is not None:
        scenario = msgspec.structs.replace(scenario, seed=seed)
    if days is not None:
        calendar = msgspec.structs.replace(scenario.calendar, days=days)
        scenario = msgspec.structs.replace(scenario, calendar=calendar)
    return scenario


def parse_scenario(data: bytes, path: Path | str) -> Scenario:
    """Read a scenario.

    Args:
        data: Content of the file.
        path: Its name, for messages.

    Raises:
        SettingError: If it is not TOML, has a field or a value that it may not have, or
            contradicts itself.
    """
    try:
        scenario = msgspec.toml.decode(data, type=Scenario)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
        message = f"{path}: {refusal(error)}"
        raise SettingError(message) from error
    found = contradictions(scenario)
    if found:
        message = f"{path}: {found}"
        raise SettingError(message)
    return scenario
