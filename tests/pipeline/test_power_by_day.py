"""A made cluster whose power is condensed by day, beside the same by its samples."""

from pathlib import Path
from typing import Final

import pytest
from polars.testing import assert_frame_equal

from analysis.energy import Energy
from analysis.energy_checks import EnergyChecks
from analysis.energy_runs import EnergyRuns
from analysis.incidents import IncidentEvents, Incidents
from analysis.power_hours import PowerHours
from analysis.power_limits import PowerLimits
from analysis.power_profiles import PowerProfiles, PowerSteps
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.power_swings import PowerSwings
from analysis.throttling import Throttling
from ingest.lake import snapshot
from ingest.synthetic.cluster.scenario import load_scenario
from ingest.tables import Table
from tests.truth.generated import analysed, made_files

pytestmark = pytest.mark.thorough

#: What power answers, and how far from its samples; means of a run's steps by day have
#: rounding of their own.
TABLES: Final[dict[type[Table], float]] = {
    Energy: 1e-6,
    EnergyChecks: 1e-6,
    EnergyRuns: 4e-5,
    Throttling: 1e-4,
    PowerSwings: 1e-9,
    PowerBands: 1e-9,
    PowerShapes: 1e-6,
    PowerSteps: 1e-7,
    PowerProfiles: 1e-9,
    PowerLimits: 1e-9,
    Incidents: 0,
    IncidentEvents: 0,
}


def test_answers_by_day_are_those_by_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made, _ = made_files(load_scenario("sample"), tmp_path, "parquet", 30.0)
    lakes = {}
    for rows in (0, 10**9):
        monkeypatch.setenv("GPULEDGER_BY_DAY_ROWS", str(rows))
        analysed(made, tmp_path / f"lake{rows}")
        lakes[rows] = snapshot(tmp_path / f"lake{rows}")
    kept = {rows: lake.scan(PowerHours).collect() for rows, lake in lakes.items()}
    assert (kept[0].height > 0, kept[10**9].height) == (True, 0)
    for table, tolerance in TABLES.items():
        by_day, by_samples = (lakes[rows].scan(table).collect() for rows in lakes)
        assert by_day.height or table is EnergyChecks
        assert_frame_equal(
            by_day.sort(table.key),
            by_samples.sort(table.key),
            check_exact=False,
            rel_tol=tolerance,
            abs_tol=0.02 if table is Energy else 1e-4,
        )
