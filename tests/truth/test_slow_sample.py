"""What is said of the sample's slow GPU is what was put in, and no more."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.truth.conftest import Sample


def test_only_power_speaks_for_its_slowness(sample: "Sample") -> None:
    rows = sample.sql("SELECT * FROM straggler_evidence ORDER BY rung")
    supports = rows.filter(rows["supports"].fill_null(value=False))
    assert set(supports["cause"]) == {"power_cap", "low_clock"}
    # counters of the time slowed for power are the strongest
    assert supports["rung"][0] == 1
    assert set(supports["table_name"]) == {"power_samples"}
    # what has no telemetry in the sample is listed as not known
    silent = set(rows.filter(rows["supports"].is_null())["cause"])
    assert {"link_errors", "congestion"} <= silent
    assert not silent & set(supports["cause"])


def test_its_clock_is_below_that_of_gpus_at_work(sample: "Sample") -> None:
    # 1980 MHz over a slowdown of 1.12, to the next step of 15 MHz, under load
    (row,) = sample.sql(
        "SELECT * FROM straggler_evidence WHERE cause = 'low_clock'"
    ).rows(named=True)
    assert row["evidence"] == "median SM clock 1770 MHz, the job's 1980 MHz"
    assert row["supports"]


def test_the_step_log_is_its_source(sample: "Sample") -> None:
    (row,) = sample.sql("SELECT * FROM straggler_tests").rows(named=True)
    assert (row["source"], row["verdict"]) == ("step_timings", "tested")
    assert row["shortest_spell_count"] == 30


def test_scores_rank_the_slow_gpu_lowest(sample: "Sample") -> None:
    truth = sample.truth["straggler"]
    for section in ("step", "gpu_kernels"):
        rows = sample.sql(
            "SELECT rank FROM section_scores"
            f" WHERE section = '{section}' ORDER BY relative_score LIMIT 1"
        )
        assert rows["rank"].to_list() == [truth["rank"]]
