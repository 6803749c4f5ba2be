"""What is kept of a day of samples of power, where they are too many."""

from typing import Final

from analysis._energy_bridges import THRESHOLDS
from analysis._power_roll import roll
from analysis._rollup import Rollup
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.fleet_power import FleetPower, FleetReadings
from analysis.gpus import Gpus
from analysis.power_days import PowerDays, XidChanges
from analysis.power_hours import PowerHours
from ingest.tables import PowerSamples

ROLLUP: Final = Rollup(
    name="power_rollup",
    version=2,
    describes="Hours and edges of the days of each device, and the power of the fleet",
    source=PowerSamples,
    owner="cluster",
    inputs=(Allocations, Gpus, Attempts),
    outputs=(PowerHours, PowerDays, FleetPower, FleetReadings, XidChanges),
    compute=roll,
    thresholds=THRESHOLDS,
)
