"""Faults put in their places: ranks, hosts, times, and what they are called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ingest.synthetic._history_causes import TABLE_5, Cause
from ingest.synthetic.cluster._draws import draws, number_of
from ingest.synthetic.cluster.faults import CAUSES, NEVER_NS, PlacedFault
from ingest.synthetic.cluster.scenario import Fault, Scenario
from ingest.times import SECOND_NS

_BY_NAME: Final = {cause.name: cause for cause in TABLE_5}

#: Codes of the table's causes that stop a run with one; the others are a faulty GPU's.
_BY_XID: Final[Mapping[int | None, Cause]] = {
    cause.xid: cause for cause in TABLE_5 if cause.xid
}

_FAULTY: Final = _BY_NAME["Faulty GPU"]
_HUNG: Final = _BY_NAME["NCCL Watchdog Timeouts"]

#: What another job does.
_PREEMPTED: Final = Cause("Preempted", "Scheduler", 0, "scheduler", on_node=False)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes the faults of a scenario; they are numbered later."""

    scenario: Scenario

    def listed(self, number: int, fault: Fault) -> Iterator[PlacedFault]:
        """Yield what a fault of the list is: one, or the stops of a lemon node."""
        begun, draw = self.scenario.begun_ns, self._draw(number, fault)
        at = begun + round((fault.from_s or 0) * SECOND_NS)
        if fault.from_step is not None:
            at = begun
        until = at + round((fault.length_s or 0) * SECOND_NS)
        if fault.kind == "lemon_node":
            for one in self._lemon(fault, at, until, draw):
                yield replace(one, origin=number)
            return
        host, local = self._place(fault)
        if fault.kind == "preemption":
            made = self.preemption(at, until)
        elif fault.kind == "hang":
            made = self.stop(at, _HUNG, host or 0, local or 0, kind="hang")
        elif fault.kind == "xid":
            cause = _BY_XID.get(fault.xid, _FAULTY)
            code = fault.xid or cause.xid
            made = self.stop(at, cause, host or 0, local or 0, kind="xid", xid=code)
        else:
            bounds = (at, until if fault.steps is None else NEVER_NS)
            made = self.slow(fault.kind, bounds, fault.badness, host, local)
        yield replace(made, from_step=fault.from_step, steps=fault.steps, draw=draw)

    def _draw(self, number: int, fault: Fault) -> int:
        """Return what the draws of a fault go by: its kind, its place, its time."""
        names = [
            (one.kind, one.rank, one.host, one.from_s, one.from_step)
            for one in (*self.scenario.faults[:number], fault)
        ]
        return number_of(*names[-1], names.count(names[-1]))

    def _place(self, fault: Fault) -> tuple[int | None, int | None]:
        if fault.rank is not None:
            return divmod(fault.rank, self.scenario.fleet.gpus_per_node)
        return fault.host, None

    def _lemon(
        self, fault: Fault, at: int, until: int, number: int
    ) -> Iterator[PlacedFault]:
        """Yield the stops of one node, at drawn times of its spell."""
        host, local = self._place(fault)
        draw = draws(self.scenario.seed, "lemon", number)
        moments = sorted(draw.integers(at, until, size=round(fault.badness)))
        for which, moment in enumerate(moments):
            made = self.stop(int(moment), _FAULTY, host or 0, local or 0)
            yield replace(made, draw=number_of("lemon", number, which))

    def stop(  # noqa: PLR0913 - the facts of one stop
        self,
        at: int,
        cause: Cause,
        host: int,
        local: int,
        *,
        kind: str = "stop",
        xid: int | None = None,
    ) -> PlacedFault:
        """Return a stop of the run by one of the table's causes."""
        is_placed = cause.on_node or kind == "hang"
        per_node = self.scenario.fleet.gpus_per_node
        of_gpu = cause.category == "GPU" or kind == "hang"
        rank = host * per_node + local
        return PlacedFault(
            number=-1,
            kind=kind,
            ranks=(rank,) if is_placed and of_gpu else (),
            host=host if is_placed else None,
            from_ns=at,
            to_ns=at,
            severity=1.0,
            cause=cause.name,
            category=cause.category,
            component=cause.component,
            xid=xid or cause.xid,
            planned=cause.category == "Planned",
            hangs=bool(cause.hang_s),
        )

    def preemption(self, at: int, until: int) -> PlacedFault:
        """Return a stop by another job, which holds the nodes for a time."""
        return PlacedFault(
            number=-1,
            kind="preemption",
            ranks=(),
            host=None,
            from_ns=at,
            to_ns=until,
            severity=1.0,
            cause=_PREEMPTED.name,
            category=_PREEMPTED.category,
            component=_PREEMPTED.component,
        )

    def slow(
        self,
        kind: str,
        bounds: tuple[int, int],
        severity: float,
        host: int | None,
        local: int | None,
    ) -> PlacedFault:
        """Return a fault that makes steps longer.

        A collision of flows is at all cards of its host; checkpoints are everyone's, as
        is late input that has no place.
        """
        per_node = self.scenario.fleet.gpus_per_node
        ranks: tuple[int, ...] = ()
        if host is not None and kind != "checkpoint_storm":
            all_of_it = range(host * per_node, (host + 1) * per_node)
            one = local is not None and kind != "flow_collision"
            ranks = (host * per_node + (local or 0),) if one else tuple(all_of_it)
        return PlacedFault(
            number=-1,
            kind=kind,
            ranks=ranks,
            host=host if ranks else None,
            from_ns=bounds[0],
            to_ns=bounds[1],
            severity=severity,
            cause=CAUSES.get(kind, kind),
        )
