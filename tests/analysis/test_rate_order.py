"""Whatever order rows come in, what is said about rates is the same to the last bit."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from analysis import (
    Analysis,
    interrupt_rates,
    interruption_gaps,
    lemon_nodes,
    rate_changes,
    rate_comparisons,
    rate_projections,
    spare_plans,
)
from tests.analysis.failing import Row, Tables, ask, attempt, tables, xid

HOSTS = ",".join(f"n{number}" for number in range(12))


@pytest.fixture(scope="module")
def fleet() -> Tables:
    """Twelve nodes under two runs, stops and failures in four weeks."""
    held: list[Row] = [
        *(attempt("r", n, n * 3, n * 3 + 2.5, HOSTS) for n in range(8)),
        *(attempt("q", n, 25 + n, 25.5 + n, "n1,n2") for n in range(3)),
    ]
    lines = [
        xid(code, day, f"n{day * 7 % 12:.0f}")
        for day in (1.5, 2.5, 5.5, 8.5, 11.5, 14, 17.5, 20.5, 23.5, 25.5, 26.5)
        for code in (79, 48)
    ]
    return tables(held, [*lines, *(xid(79, 4 + n, "n3") for n in range(5))])


@pytest.mark.parametrize(
    "analysis",
    [
        interrupt_rates.ANALYSIS,
        rate_comparisons.ANALYSIS,
        rate_changes.ANALYSIS,
        rate_projections.ANALYSIS,
        interruption_gaps.ANALYSIS,
        lemon_nodes.ANALYSIS,
        spare_plans.ANALYSIS,
    ],
    ids=lambda one: one.name,
)
def test_the_order_of_rows_does_not_matter(analysis: Analysis, fleet: Tables) -> None:
    found = {table: rows.collect().lazy() for table, rows in fleet.items()}
    turned = {
        table: rows.collect().sample(fraction=1, shuffle=True, seed=5).lazy()
        for table, rows in found.items()
    }
    wanted, told = ask(analysis, found), ask(analysis, turned)
    for table, rows in wanted.items():
        assert rows.height > 0
        assert_frame_equal(rows, told[table], check_exact=True)


def test_an_empty_lake_has_no_row() -> None:
    # an empty lake has all tables, and none of them a row
    for one in (rate_changes, interruption_gaps, lemon_nodes, spare_plans):
        for rows in ask(one.ANALYSIS, {}).values():
            assert isinstance(rows, pl.DataFrame)
            assert rows.is_empty()
