"""A regression shows against the last row of the same machine and size."""

from pathlib import Path

from tests.benchmarks.bench_history import (
    Past,
    Row,
    append_history,
    machine,
    read_history,
    regression,
    table_lines,
)

HERE = "2 x some processor, 24 GiB"


def row(cost: float, size: str = "1 M rows") -> Row:
    return Row("writing", size, cost, "9 M rows/s", "a plain write", 2.0, 300)


def past(
    ratio: float, size: str = "1 M rows", on: str = HERE, peer_s: float = 2.0
) -> Past:
    return Past("writing", size, on, ratio, ratio * peer_s)


def test_what_is_half_as_fast_again_is_worse() -> None:
    """3.2 s beside a peer's 2 s are 1.6 times, 1.6 times the 1.0 of the last run."""
    told = regression(row(3.2), [past(5.0), past(1.0)], HERE)
    assert told == (
        "writing, 1 M rows: 1.60 times a plain write, 1.60 times the 1.00 of the last"
        " run on this machine; 1.5 times are allowed"
    )


def test_what_is_as_fast_is_not_nor_what_has_no_history() -> None:
    assert regression(row(3.0), [past(1.0)], HERE) is None
    assert regression(row(3.2), [], HERE) is None
    assert regression(row(3.2), [past(0.1, on="another")], HERE) is None
    assert regression(row(3.2), [past(0.1, size="2 M rows")], HERE) is None


def test_a_peer_that_was_faster_makes_nothing_worse() -> None:
    assert regression(row(3.2), [past(1.0, peer_s=3.0)], HERE) is None
    assert regression(row(3.2), [past(1.0, peer_s=2.8)], HERE) is not None


def test_a_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "history.tsv"
    assert read_history(path) == []
    append_history(path, [row(1.0)])
    append_history(path, [row(3.0)])
    assert read_history(path) == [past(0.5, on=machine()), past(1.5, on=machine())]


def test_the_table_says_machine_versions_and_ratios() -> None:
    first, second, head, line = table_lines([row(3.0)])
    assert first == machine()
    assert "polars" in second
    assert head.split()[:2] == ["what", "size"]
    assert "1.50" in line
    assert line.endswith("300 MB")
