"""How often to save on paper: best intervals, and the share of time that is useful.

Words, the same in every formula here: the *interval* is the useful work between two
saves, the *period* is the interval and the stall of one save. M is the mean time
between interruptions, w the stall of a save, R the time to load a checkpoint and to be
back at work, D the time until loading begins. Failures are taken to come without
memory (exponential); the field's own data often show more early failures than that
(Weibull of shape below 1), for which these intervals are a little short.

Sources: Young, CACM 17(9), 1974; Daly, FGCS 22, 2006; Aupy, Robert and Vivien, survey
of checkpoint strategies, 2015 (the period forms and the renewal argument); Corless et
al., Adv. Comput. Math. 5, 1996 (Lambert's W); arXiv 2410.18124 (availability form);
arXiv 2410.21680 (expected ETTR); Moody et al., SC 2010 (levels).
"""

from analysis._checkpoint_closed import (
    CANNOT,
    ROUGH,
    WITHIN,
    ClosedEttr,
    closed_load,
    ettr_closed_form,
)
from analysis._checkpoint_intervals import (
    Costs,
    daly,
    daly_period,
    exact_interval,
    exact_period,
    rfo,
    saxena,
    young,
)
from analysis._checkpoint_levels import Nested, Tier, multi_level, nested_waste
from analysis._checkpoint_renewal import (
    Waste,
    exact_ettr,
    exact_waste,
    expected_rework,
    first_order_waste,
    interval_waste,
    wrong_mtbf_cost,
)

__all__ = [
    "CANNOT",
    "ROUGH",
    "WITHIN",
    "ClosedEttr",
    "Costs",
    "Nested",
    "Tier",
    "Waste",
    "closed_load",
    "daly",
    "daly_period",
    "ettr_closed_form",
    "exact_ettr",
    "exact_interval",
    "exact_period",
    "exact_waste",
    "expected_rework",
    "first_order_waste",
    "interval_waste",
    "multi_level",
    "nested_waste",
    "rfo",
    "saxena",
    "wrong_mtbf_cost",
    "young",
]
