"""A scenario: what a synthetic cluster is made of, in a TOML file."""

from pathlib import Path
from typing import Annotated, Final

import msgspec

from ingest.errors import SettingError
from ingest.synthetic.cluster._scenario_checks import contradictions
from ingest.synthetic.cluster._scenario_faults import Fault, FaultsDrawn
from ingest.synthetic.cluster._scenario_parts import (
    MOST_DAYS,
    Calendar,
    Fleet,
    Layout,
    Model,
    Noise,
    Schedule,
    Word,
)
from ingest.synthetic.cluster._scenario_refusals import refusal
from ingest.synthetic.cluster._scenario_sizes import too_much
from ingest.times import DAY_NS, SECOND_NS

__all__ = [
    "MOST_DAYS",
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

#: Greatest seed: what TOML can write.
MOST_SEED: Final = 2**63 - 1

#: Longest file of a scenario. [B]
_MOST_BYTES: Final = 4 << 20

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

    seed: Annotated[int, msgspec.Meta(ge=0, le=MOST_SEED)] = 1
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
    def tokens_per_step(self) -> int:
        """Tokens of a step, over all ranks. [1]"""
        layout, model = self.layout, self.model
        each = model.sequence_length * layout.microbatches
        return model.tokens_per_step or layout.dp * each

    @property
    def begun_ns(self) -> int:
        """When the run is submitted. [ns]"""
        return round(self.calendar.begun.timestamp()) * SECOND_NS

    @property
    def until_ns(self) -> int:
        """End of the calendar. [ns]"""
        return self.begun_ns + self.calendar.days * DAY_NS


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
    scenario = parse_scenario(_read(path, name), path)
    if seed is not None:
        _refuse_beyond("--seed", seed, (0, MOST_SEED))
        scenario = msgspec.structs.replace(scenario, seed=seed)
    if days is not None:
        _refuse_beyond("--days", days, (1, MOST_DAYS))
        calendar = msgspec.structs.replace(scenario.calendar, days=days)
        scenario = msgspec.structs.replace(scenario, calendar=calendar)
    _refuse(path, next(too_much(scenario), None))
    return scenario


def _read(path: Path, name: str) -> bytes:
    """Read a scenario's file: a regular one, and not more of it than one can have."""
    try:
        if not path.is_file():
            raise FileNotFoundError
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        message = (
            f"{name}: no such scenario; name a file, or one of {', '.join(packaged())}"
        )
        raise SettingError(message) from error
    if len(data) > _MOST_BYTES:
        _refuse(path, f"not a scenario: expected at most {_MOST_BYTES:,} bytes")
    return data


def _refuse_beyond(option: str, value: int, bounds: tuple[int, int]) -> None:
    low, high = bounds
    if not low <= value <= high:
        _refuse(option, f"{value}: expected a whole number of {low} to {high}")


def _refuse(path: Path | str, found: str | None) -> None:
    """Refuse a scenario for what was found in it.

    Raises:
        SettingError: If something was.
    """
    if found:
        message = f"{path}: {found}"
        raise SettingError(message)


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
        message = f"{path}: {refusal(error, Scenario)}"
        raise SettingError(message) from error
    _refuse(path, contradictions(scenario))
    return scenario
