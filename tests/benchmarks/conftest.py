"""Collects the rows of the benchmarks, prints them as one table and keeps them."""

from collections.abc import Callable, Iterator

import pytest

from tests.benchmarks.bench_history import (
    Row,
    append_history,
    history_path,
    machine,
    read_history,
    regression,
    table_lines,
)

ROWS = pytest.StashKey[list[Row]]()

AddRow = Callable[[Row], None]


@pytest.fixture(scope="session")
def add_row(request: pytest.FixtureRequest) -> Iterator[AddRow]:
    """Adds a row to the table; one that is worse than the last time fails its test."""
    history, here = read_history(history_path()), machine()
    rows = request.config.stash.setdefault(ROWS, [])

    def add(row: Row) -> None:
        rows.append(row)
        worse = regression(row, history, here)
        if worse:
            pytest.fail(worse, pytrace=False)

    yield add
    append_history(history_path(), rows)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table behind all tests."""
    rows = config.stash.get(ROWS, [])
    if rows:
        terminalreporter.section("benchmarks")
        for line in table_lines(rows):
            terminalreporter.write_line(line)
