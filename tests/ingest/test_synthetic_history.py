"""The files of a history: the same for a seed, and what the table says of causes."""

from pathlib import Path

from ingest.synthetic.history import (
    DATA,
    PLANNED,
    TABLE_5,
    TRUTH,
    UNEXPECTED,
    History,
    history_truth,
    run_history,
    write_history,
)


def files(folder: Path) -> dict[str, bytes]:
    """Content of every file under a folder, by its path."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def write(folder: Path, seed: int) -> dict[str, bytes]:
    write_history(folder, seed, days=1, nodes=2, unexpected=6, planned=1)
    return files(folder)


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, same, other = (
        write(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == same
    assert one[TRUTH] != other[TRUTH]
    assert set(one) == {
        TRUTH,
        *(
            f"{DATA}/{name}"
            for name in (
                *("interruptions.csv", "kernel.log", "run.toml"),
                *("sacct.txt", "steps.csv.gz"),
            )
        ),
    }


def test_the_table_adds_up_to_what_it_says() -> None:
    assert UNEXPECTED == 419
    assert UNEXPECTED + PLANNED == 466
    # the paper prints 30.1 % for the first row; its own counts say 35.3 %
    assert round(100 * TABLE_5[0].count / UNEXPECTED, 1) == 35.3


def test_each_attempt_goes_on_where_the_checkpoint_left_off() -> None:
    legs = run_history(History(seed=3, days=2, nodes=2, unexpected=20, planned=4))
    resumed = 0
    for leg in legs:
        if leg.steps:
            assert leg.steps[0].number == resumed
            numbers = [step.number for step in leg.steps]
            assert numbers == list(range(resumed, resumed + len(numbers)))
        assert leg.start <= leg.signed <= leg.end
        resumed = leg.resumed
    assert resumed == len({step.number for leg in legs for step in leg.kept})


def test_truth_adds_up_to_what_was_paid_for() -> None:
    history = History(seed=3, days=2, nodes=2, spare_nodes=1, unexpected=20, planned=4)
    legs = run_history(history)
    truth = history_truth(history, legs)
    paid = (legs[-1].end - legs[0].start) * history.reserved
    assert sum(truth["accounts_ns"].values()) == paid
    assert truth["restart_parts_ns"].keys() >= {"hang", "detect", "requeue", "start"}
    parts = sum(truth["restart_parts_ns"].values())
    assert parts == truth["accounts_ns"]["restart"]
