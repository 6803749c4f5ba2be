"""The share of time that is useful under failures without memory, exactly.

A run works off segments of T seconds of work and w of stall. A failure costs D and then
R, in which it may fail again, and the segment begins anew. With P = T + w, the segment
takes (M + D) e^(R/M) (e^(P/M) - 1) on average, of which T is useful.

Seen from the time between two failures, of which each has M + D on average: what is
saved when it ends is T for each whole P after R. A save that is safe only a lag after
its stall must be over by that much, which is as if R were longer by the lag, but for
the run being at work in it.

Source: Daly, FGCS 22, 2006; Aupy, Robert and Vivien, 2015; the lag is our own.
"""

from math import exp, expm1, inf
from typing import Final, NamedTuple

from analysis._checkpoint_intervals import Costs, exact_interval

#: Greatest exponent of e that a float can hold: beyond it no segment is ever done.
_MOST: Final = 700.0

#: Below this share of the mean time between failures, half of the period is exact to
#: 1e-9, and the closed form has no digits left. [1]
_SHORT_RATIO: Final = 1e-5


class Waste(NamedTuple):
    """Where the time goes, as shares of the run's whole time. [1]

    Attributes:
        write: Stalls of saves that were kept.
        rework: Work, and stalls, that a failure undid.
        restart: Time away: until loading, loading, and failures meanwhile.
    """

    write: float
    rework: float
    restart: float

    @property
    def total(self) -> float:
        """Share of the time that is not useful. [1]"""
        return self.write + self.rework + self.restart


def expected_rework(period_s: float, mtbf_s: float) -> float:
    """Return the work that a failure undoes on average: M - P / (e^(P/M) - 1). [s]

    The mean of an exponential time, given that it falls into the period: half of the
    period where that is short, M where it is long.

    Args:
        period_s: Time from one save to the end of the next. [s]
        mtbf_s: Mean time between failures. [s]
    """
    ratio = period_s / mtbf_s
    if ratio < _SHORT_RATIO:
        return period_s / 2 - period_s * ratio / 12
    return mtbf_s - period_s / expm1(ratio) if ratio < _MOST else mtbf_s


def exact_ettr(interval_s: float, costs: Costs) -> float:
    """Return the useful share: T / ((M + D) e^(R/M) (e^((T + w)/M) - 1)). [1]

    R and the lag, where a save is safe only some time after its stall. Zero where no
    segment is ever finished; 1 only without failures and stalls.

    Args:
        interval_s: Useful work T between two saves; zero without a stall is the limit
            of saving all the time. [s]
        costs: What a run pays for its safety.
    """
    mtbf, period = costs.mtbf_s, interval_s + costs.stall_s
    if mtbf == inf:
        return interval_s / period if period else 1.0
    ahead = costs.restart_s + costs.lag_s
    if (period + ahead) / mtbf > _MOST:
        return 0.0
    lost = (mtbf + costs.downtime_s) * exp(ahead / mtbf)
    if not period:
        return mtbf / lost
    return interval_s / (lost * expm1(period / mtbf))


def exact_waste(interval_s: float, costs: Costs) -> Waste:
    """Return where the time goes at an interval; with `exact_ettr` it adds up to 1.

    Where nothing is ever finished, no share can be told apart: all of it is rework.

    Args:
        interval_s: Useful work T between two saves, above zero. [s]
        costs: What a run pays for its safety.
    """
    ettr, mtbf = exact_ettr(interval_s, costs), costs.mtbf_s
    if not ettr:
        return Waste(0.0, 1.0, 0.0)
    write = costs.stall_s * ettr / interval_s
    if mtbf == inf:
        return Waste(write, 0.0, 0.0)
    loading = -expm1(-costs.restart_s / mtbf) * mtbf
    restart = (costs.downtime_s + loading) / (mtbf + costs.downtime_s)
    return Waste(write, max(1 - ettr - write - restart, 0.0), restart)


def interval_waste(interval_s: float, costs: Costs) -> float:
    """Return the share of time that is not useful at an interval, exactly. [1]"""
    return max(1.0 - exact_ettr(interval_s, costs), 0.0)


def first_order_waste(period_s: float, costs: Costs) -> float:
    """Return w/P + (1 - w/P) (D + R + P/2) / M; above 1 it has no meaning. [1]

    Source: Aupy, Robert and Vivien, 2015.

    Args:
        period_s: Time from one save to the end of the next. [s]
        costs: What a run pays for its safety.
    """
    writing = costs.stall_s / period_s
    away = costs.downtime_s + costs.restart_s + period_s / 2
    return writing + (1 - writing) * away / costs.mtbf_s


def wrong_mtbf_cost(costs: Costs, factor: float) -> float:
    """Return what the exact interval of a wrong MTBF wastes more than the best. [1]

    Args:
        costs: What a run really pays.
        factor: MTBF believed over the real one. [1]
    """
    believed = Costs(
        costs.mtbf_s * factor,
        costs.stall_s,
        costs.restart_s,
        costs.downtime_s,
        costs.lag_s,
    )
    best = exact_ettr(exact_interval(costs), costs)
    return max(best - exact_ettr(exact_interval(believed), costs), 0.0)
