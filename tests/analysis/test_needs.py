"""What an analysis says it cannot do without: then it need not be asked."""

import pytest

from analysis import QUESTIONS, Analysis, Frames

each = pytest.mark.parametrize("analysis", QUESTIONS, ids=lambda one: one.name)


@each
def test_of_nothing_it_finds_nothing_and_says_so_in_whole_tables(
    analysis: Analysis,
) -> None:
    found = analysis.compute(Frames({}), analysis.thresholds)
    assert set(found) == set(analysis.outputs)
    for table, rows in found.items():
        assert rows.is_empty()
        assert rows.schema == table.create_empty().schema


@each
def test_what_it_needs_is_among_what_it_reads(analysis: Analysis) -> None:
    assert set(analysis.needs) <= set(analysis.inputs)
