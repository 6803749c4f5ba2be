"""Steps that traces tell and steps that the step log tells are told alike."""

from typing import TYPE_CHECKING, Final

import pytest

pytestmark = pytest.mark.thorough

if TYPE_CHECKING:
    from tests.truth.conftest import Sample

#: Account of the ledger to the part of the step log that says the same.
PARTS: Final = {
    "straggler_wait": "wait_ns",
    "exposed_communication": "communication_ns",
    "productive": "compute_ns",
}


@pytest.mark.parametrize("account", PARTS)
def test_a_traced_step_is_split_as_its_log_says(sample: "Sample", account: str) -> None:
    # kernels leave gaps of microseconds, and a gap belongs to the last collective in it
    booked = sample.sql(
        "SELECT sum(gpu_ns)::BIGINT AS ns FROM lost_time"
        f" WHERE basis = 'collectives' AND category = '{account}'"
    )
    steps = ", ".join(str(step) for step in sample.truth["traced_steps"])
    logged = sample.sql(
        f"SELECT sum({PARTS[account]})::BIGINT AS ns FROM step_timings"
        f" WHERE clock = 'host' AND step IN ({steps}) AND attempt = 0"
    )
    assert booked["ns"][0] == pytest.approx(logged["ns"][0], rel=0.015)


def test_data_stalls_are_no_longer_than_what_is_idle(sample: "Sample") -> None:
    # steps wait about 5 ms for their input, which a trace shows as idle
    booked = sample.sql(
        "SELECT sum(gpu_ns)::BIGINT AS ns FROM lost_time"
        " WHERE basis = 'collectives' AND category = 'data_stall'"
    )
    steps = ", ".join(str(step) for step in sample.truth["traced_steps"])
    logged = sample.sql(
        "SELECT sum(data_ns)::BIGINT AS ns FROM step_timings"
        f" WHERE step IN ({steps}) AND attempt = 0"
    )
    assert booked["ns"][0] == logged["ns"][0]
