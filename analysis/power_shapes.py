"""The power of each run as a whole, and in which bands of frequency it swings."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class PowerBands(Table):
    """One row per run and band of frequency: how much of the swinging is in it."""

    key: ClassVar = ("run_id", "band_low_hz", "band_high_hz")

    run_id = c.identifier("Run.")
    band_low_hz = c.quantity("Lower end of the band.", "Hz")
    band_high_hz = c.quantity("Upper end of it.", "Hz")
    is_watched = c.flag("Whether it is the band that limits are for.")
    band_energy_ratio = c.ratio(
        "Share of the AC energy, of what the sensor shows.", nullable=True
    )
    seen_high_hz = c.quantity("Highest frequency that the sensor shows.", "Hz")
    observable = c.flag("Whether the sensor shows the whole band.")
    reason = c.text("Why not.")


class PowerShapes(Table):
    """One row per run: its power as a whole, and the sensor that showed it.

    Where samples were condensed by day, the peaks of GPUs are of samples taken while
    they were held, and what sensors are like is the middle of their days.
    """

    key: ClassVar = ("run_id",)

    run_id = c.identifier("Run.")
    semantics = c.choice(
        "What readings are: of the moment, or means over a second.",
        ("instant", "average"),
    )
    interval_ns = c.duration_ns(
        "Median time between two samples of a GPU; the time held where each has one."
    )
    refresh_ns = c.duration_ns("Median time between two changes of its reading.")
    grid_ns = c.duration_ns("Time between two points of the run's power.")
    devices_count = c.count("GPUs that were sampled.")
    expected_count = c.count("GPUs that the run held.")
    coverage_ratio = c.ratio(
        "Share of the time held in which every sampled GPU had a reading in force."
    )
    mean_w = c.watts("Mean power of all sampled GPUs together.", nullable=True)
    low_w = c.watts("Lowest.", nullable=True)
    peak_w = c.watts("Highest.", nullable=True)
    ceiling_w = c.watts(
        "Most that its GPUs can draw together: half above their power limits, and 4 kW"
        " each where none is told."
    )
    range_w = c.watts("Highest less lowest.", nullable=True)
    typical_range_w = c.watts("99th less 1st percentile.", nullable=True)
    load_factor_ratio = c.ratio("Mean over peak.", nullable=True)
    coincidence_ratio = c.ratio(
        "Peak of the sum over the sum of the GPUs' peaks.", nullable=True
    )
    peak_hz = c.quantity("Frequency with the most AC energy.", "Hz", nullable=True)
    highest_hz = c.quantity("Highest frequency that the sensor shows.", "Hz")
    step_period_ns = c.duration_ns("Median length of a step.", nullable=True)
    step_swing_w = c.watts("Median over steps of highest less lowest.", nullable=True)
    step_duty_ratio = c.ratio(
        "Median over steps of the share above the middle of both.", nullable=True
    )
    step_reason = c.text("Why nothing is told of steps.")
