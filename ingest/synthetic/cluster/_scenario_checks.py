"""What the parts of a scenario say about each other."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ingest.card_parts import LONGEST_S
from ingest.synthetic.cluster._scenario_collisions import collisions
from ingest.synthetic.cluster._scenario_faults import PLACED, STOPPING, Fault
from ingest.synthetic.cluster._scenario_severities import too_bad, too_many
from ingest.synthetic.cluster._scenario_sizes import too_much

if TYPE_CHECKING:
    from ingest.synthetic.cluster.scenario import Scenario

#: A file beside the run's folder.
_TRUTH: Final = "truth.json"

#: Years that a run may begin in: what reads its files takes times from 1970 to the end
#: of 2099, and a run goes on for two years at most.
_YEARS: Final = (1971, 2097)

#: Kinds that are all alike, kinds whose severity is no ratio, and kinds that last
#: seconds, not steps.
_ALIKE: Final = frozenset({"xid", "hang", "preemption"})
_FREE: Final = frozenset({"data_stall"})
_IN_SECONDS: Final = frozenset({"lemon_node", "preemption"})


def contradictions(scenario: "Scenario") -> str | None:
    """Return the first thing in a scenario that contradicts another, None if none."""
    return next(_all(scenario), None)


def _all(scenario: "Scenario") -> Iterator[str]:
    fleet, layout = scenario.fleet, scenario.layout
    gpus = fleet.hosts * fleet.gpus_per_node
    if scenario.run_id == _TRUTH:
        yield f"run_id: {_TRUTH} is the name of the truth beside it; choose another"
    if layout.ranks != gpus:
        yield (
            f"layout: tp x cp x pp x dp is {layout.ranks}: expected {gpus},"
            " fleet.hosts x fleet.gpus_per_node; change one of them"
        )
    if sorted(layout.order) != ["cp", "dp", "pp", "tp"]:
        yield "layout.order: expected tp, cp, pp and dp once each; correct it"
    if (fleet.hosts + fleet.spares) % fleet.racks:
        yield (
            f"fleet.racks: {fleet.racks}: expected a divisor of hosts and spares,"
            f" {fleet.hosts + fleet.spares}; change one of them"
        )
    if fleet.racks % fleet.pods:
        yield f"fleet.pods: {fleet.pods}: expected a divisor of racks; change it"
    yield from _model(scenario)
    yield from _times(scenario)
    yield from too_much(scenario)
    yield from too_many(scenario)
    for number, fault in enumerate(scenario.faults):
        yield from (f"faults[{number}].{text}" for text in _fault(scenario, fault))
    yield from collisions(scenario)


def _model(scenario: "Scenario") -> Iterator[str]:
    """Yield what a run card may not say of what is trained."""
    layout, model = scenario.layout, scenario.model
    if layout.pp * layout.vpp > model.layers:
        yield (
            f"layout: pp x vpp is {layout.pp * layout.vpp}: expected at most"
            f" model.layers, {model.layers}; change one of them"
        )
    if scenario.tokens_per_step % (layout.dp * model.sequence_length):
        yield (
            f"model.tokens_per_step: {scenario.tokens_per_step}: expected a multiple"
            f" of layout.dp x model.sequence_length, {layout.dp} x"
            f" {model.sequence_length}; change one of them"
        )
    if scenario.schedule.checkpoint_every * scenario.schedule.step_s > LONGEST_S:
        yield "schedule.checkpoint_every: expected a year at most; lower it"


def _times(scenario: "Scenario") -> Iterator[str]:
    calendar = scenario.calendar
    first, last = _YEARS
    if not first <= calendar.begun.year <= last:
        yield f"calendar.begun: expected a year of {first} to {last}; correct it"
    if calendar.begun.tzinfo is None:
        yield "calendar.begun: expected an offset from UTC; add one, such as Z"
    for name in ("react_s", "decide_s", "queue_s", "load_s"):
        low, high = getattr(calendar, name)
        if low > high:
            yield f"calendar.{name}: expected the lesser bound first; turn it around"
    schedule = scenario.schedule
    shares = schedule.communication_share + schedule.idle_share
    if schedule.data_s >= schedule.step_s * (1 - shares) / 2:
        yield (
            "schedule.data_s: expected less than half of what communication and idle"
            " time leave of step_s; lower it"
        )


def _fault(scenario: "Scenario", fault: Fault) -> Iterator[str]:
    if fault.kind in PLACED and (fault.rank is None) == (fault.host is None):
        yield f"rank: {fault.kind} needs a rank or a host; give one of them"
    if fault.rank is not None and fault.rank >= scenario.ranks:
        yield f"rank: {fault.rank}: expected less than {scenario.ranks}; lower it"
    if fault.host is not None and fault.host >= scenario.fleet.hosts:
        yield f"host: {fault.host}: expected less than {scenario.fleet.hosts}; lower it"
    if (fault.from_s is None) == (fault.from_step is None):
        yield "from_s: expected from_s or from_step; give one of them"
    yield from _length(fault)
    if fault.xid is not None and fault.kind != "xid":
        yield f"xid: {fault.kind} has none; leave it out"
    if fault.kind in _ALIKE and fault.severity is not None:
        yield f"severity: {fault.kind} has none; leave it out"
    if fault.kind not in _FREE and fault.badness < 1:
        yield f"severity: {fault.badness}: expected 1 or more; raise it"
    yield from too_bad(scenario, fault)


def _length(fault: Fault) -> Iterator[str]:
    """Tell a time from steps: one thing is counted in one of them."""
    lasts = fault.kind not in STOPPING or fault.kind in _IN_SECONDS
    if not lasts and (fault.length_s is not None or fault.steps is not None):
        yield f"length_s: {fault.kind} has no length; leave it out"
    if fault.kind in _IN_SECONDS and fault.from_step is not None:
        yield f"from_step: {fault.kind} lasts seconds; give from_s and length_s"
    given = (
        ("from_s", "length_s") if fault.from_step is None else ("from_step", "steps")
    )
    if lasts and getattr(fault, given[1]) is None:
        yield f"{given[1]}: {fault.kind} has {given[0]}: expected {given[1]}; add it"
    other = "steps" if fault.from_step is None else "length_s"
    if lasts and getattr(fault, other) is not None:
        yield f"{other}: {fault.kind} has {given[0]}; leave {other} out"
