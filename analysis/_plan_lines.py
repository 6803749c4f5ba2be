"""The lines of a plan, in the order of the page."""

from collections.abc import Mapping
from typing import Any, Final

from analysis._plan_collectives import COLLECTIVES
from analysis._plan_cost import COMPUTE, COST, MEMORY
from analysis._plan_fabric import FABRIC
from analysis._plan_failures import FAILURES
from analysis._plan_known import sheet_of
from analysis._plan_layout import LAYOUT
from analysis._plan_power import POWER
from analysis._plan_rules import Known, Line, Rule
from analysis._plan_storage import CHECKPOINTS, DATA
from analysis._plan_traffic import TRAFFIC

#: Every line of a plan; a line may need those before it.
RULES: Final[tuple[Rule, ...]] = (
    *COST,
    *COMPUTE,
    *MEMORY,
    *LAYOUT,
    *TRAFFIC,
    *COLLECTIVES,
    *FABRIC,
    *DATA,
    *FAILURES,
    *CHECKPOINTS,
    *POWER,
)

#: Parts of a plan in the order of the page.
GROUPS: Final = tuple(dict.fromkeys(rule.section for rule in RULES))

#: No number of the lake.
_NOTHING: Final[Mapping[str, Known]] = {}


def draw_up(
    card: Mapping[str, Any], lake: Mapping[str, Known] = _NOTHING
) -> list[Line]:
    """Return a run on paper.

    Args:
        card: A row of RunCards.
        lake: Numbers of the run that telemetry tells, by the names of the card's
            columns; asked where the card does not say.
    """
    sheet = sheet_of(card, lake)
    return [sheet.line(rule) for rule in RULES]
