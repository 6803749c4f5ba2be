"""A page about the pod."""

from collections.abc import Callable

import pytest

from reports._section import Scope
from tests.reports.builder import RUN, prices_of, provenance_of

MakeScope = Callable[..., Scope]


@pytest.fixture
def make_scope() -> MakeScope:
    """Builds the scope of a page about runs at 2.5 USD a GPU-hour."""
    return lambda *runs: Scope(prices_of(*runs), provenance_of(*runs))


@pytest.fixture
def scope() -> Scope:
    """The pod's run at 2.5 USD a GPU-hour."""
    return Scope(prices_of(RUN), provenance_of(RUN))
