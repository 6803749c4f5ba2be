"""dcgmi dmon whose blanks a wrapper collapsed, and values wider than their column."""

import pytest

from tests.ingest.readings import refused
from tests.ingest.test_dcgmi_dmon import (
    ENTITY,
    ENTITY_UNITS,
    FULL,
    HOLED,
    dcgmi,
    samples,
)


def squeezed(line: str) -> str:
    """Return a line with one blank between cells, as `echo $line` leaves it."""
    return f"1777708107.135 {' '.join(line.split())}"


@pytest.mark.parametrize("header", [ENTITY, squeezed(ENTITY)])
@pytest.mark.parametrize("number", ["0", "7", "12", "123", "1234"])
def test_one_blank_between_cells_cuts_no_value(header: str, number: str) -> None:
    line = squeezed(FULL).replace("GPU 0", f"GPU {number}")
    batches = dcgmi(header, squeezed(ENTITY_UNITS), line)
    (row,) = samples(batches)
    assert (row["power_average_w"], row["energy_mj"]) == (120.5, 1_234_567)
    assert (row["temperature_c"], row["sm_clock_mhz"]) == (30.0, 1410.0)
    assert (row["gpu_uuid"].split()[0], refused(batches)) == (f"index:{number}", [])


@pytest.mark.parametrize("header", [ENTITY, squeezed(ENTITY)])
@pytest.mark.parametrize("number", ["1", "123"])
def test_which_cell_is_empty_is_never_guessed(header: str, number: str) -> None:
    line = squeezed(HOLED).replace("GPU 1", f"GPU {number}")
    batches = dcgmi(header, line)
    assert refused(batches) == [("line 2", "cell_count")]
    (hint,) = [one.hint for batch in batches for one in batch.refused]
    assert hint is not None
    assert 'dcgmi dmon ... | while IFS= read -r line; do echo "$(date' in hint


def test_a_value_as_wide_as_its_column_is_not_cut() -> None:
    batches = dcgmi(ENTITY, FULL.replace("120.500           ", "120.50000000000000"))
    assert refused(batches) == [("line 2", "cell_count")]


def test_a_stamp_without_a_year_is_refused_with_a_hint() -> None:
    batches = dcgmi(ENTITY, f"Mar 01 10:00:01 {FULL}")
    assert refused(batches) == [("line 2", "time_ns|value")]
    (hint,) = [one.hint for batch in batches for one in batch.refused]
    assert hint is not None
    assert "year" in hint
