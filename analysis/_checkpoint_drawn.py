"""Histories drawn from a run's own stops: what a replay is worth, and its error."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from analysis._checkpoint_replayed import History, replay
from analysis._checkpoint_scenarios import Played

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Histories that are drawn: the error of an error is then 2 %; of runs of very many
#: stops fewer, down to an error of 5 %.
HISTORIES: Final = 1000
_FEWEST_HISTORIES: Final = 200

#: Stops that are drawn in all, where the fewest histories do not need more.
_MOST_DRAWN: Final = 2_000_000

#: Times that stops are moved inside a period, for as many histories each.
_MOVES: Final = 40

#: Seed of every replay, so that it says the same again.
SEED: Final = 20_260_301

#: One stop has no scatter, nor has one history.
_FEWEST: Final = 2


class Drawn(NamedTuple):
    """A replay over drawn histories. [1]

    Attributes:
        ratio: Mean useful share.
        error: Its standard error for a history as long as the run's.
        change: What the mean is above that of the first replay.
        change_error: Standard error of the change, both drawn alike.
    """

    ratio: float
    error: float
    change: float
    change_error: float


def drawn(history: History, played: Sequence[Played]) -> list[Drawn] | None:
    """Draw histories from a run's stops, alike for all replays.

    Stops are drawn with replacement, as many as there were (bootstrap: Efron, Annals of
    Statistics 7, 1979), and each is moved by up to half a period either way: where in
    its period a stop fell was luck. None for fewer than two stops.

    Args:
        history: The run's own stops.
        played: Its replays, the one as it was first.
    """
    import numpy as np

    stops = len(history.up_s)
    if stops < _FEWEST:
        return None
    draw, shares = np.random.default_rng(SEED), np.full(stops, 1 / stops)
    first = played[0].scenario
    half = (first.interval_s + first.costs.stall_s) / 2
    wanted = min(HISTORIES, max(_MOST_DRAWN // stops, _FEWEST_HISTORIES))
    ratios = []
    for _ in range(_MOVES):
        up = np.clip(history.up_s + draw.uniform(-half, half, stops), 0.0, None)
        chosen = draw.multinomial(stops, shares, wanted // _MOVES).astype(np.float64)
        ratios.append(_ratios(history._replace(up_s=up), played, chosen))
    found = np.concatenate(ratios)
    return _summed(found) if len(found) >= _FEWEST else None


def _ratios(
    history: History, played: Sequence[Played], chosen: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """Return the useful share of drawn histories, a column for each replay.

    Those in which no time passes, of stops at their very start, have none.
    """
    import numpy as np

    told = [
        replay(history, one.scenario.interval_s, one.scenario.costs, one.away_s)
        for one in played
    ]
    useful = np.stack([one.useful_s for one in told], axis=1)
    whole = np.stack([one.whole_s for one in told], axis=1)
    times = chosen @ whole
    lasting = times.min(axis=1) > 0
    ratios: NDArray[np.float64] = (chosen @ useful)[lasting] / times[lasting]
    return ratios


def _summed(ratios: "NDArray[np.float64]") -> list[Drawn]:
    changes = ratios - ratios[:, :1]
    return [
        Drawn(
            ratio=float(ratios[:, one].mean()),
            error=float(ratios[:, one].std(ddof=1)),
            change=float(changes[:, one].mean()),
            change_error=float(changes[:, one].std(ddof=1)),
        )
        for one in range(ratios.shape[1])
    ]
