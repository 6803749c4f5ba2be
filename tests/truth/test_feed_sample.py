"""The batch that the sample's restart gave again is found, and nothing else."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_the_restart_that_repeats_a_batch_is_found(sample: "Sample") -> None:
    truth = sample.truth["data_feed"]
    (row,) = sample.sql("SELECT * FROM data_feed_violations").rows(named=True)
    for name in ("kind", "attempt", "step", "other_step", "dataset"):
        assert row[name] == truth[name], name
    assert (row["sample_from"], row["sample_to"]) == (
        truth["sample_from"],
        truth["sample_to"],
    )
    assert row["ranks"] == "0-15"
    # the whole step was for nothing: its samples had been learned from
    (spent,) = sample.sql(
        "SELECT sum(duration_ns)::BIGINT FROM step_timings WHERE step = 50 AND"
        " attempt = 1 AND data_ns IS NOT NULL"
    ).row(0)
    assert int(row["gpu_ns"]) == spent


def test_steps_that_waited_for_input_are_those_that_were_made_to(
    sample: "Sample",
) -> None:
    rows = sample.sql(
        "SELECT step FROM data_feed_steps WHERE is_kept AND stalled_ranks > 0"
        " ORDER BY step"
    )
    assert rows["step"].to_list() == sample.truth["data_stall_steps"]
    (run,) = sample.sql("SELECT * FROM data_feed").rows(named=True)
    assert run["verdict"] == "violations"
    assert (run["steps_count"], run["redone_count"], run["ranks"]) == (100, 10, 16)
    assert int(run["data_stall_gpu_ns"]) == sample.truth["gpu_ns"]["data"]
