"""At which frequencies power swings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from analysis._power_hold import Hold
from analysis._power_ramps import AVERAGED_NS, Sensor
from ingest.times import SECOND_NS

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

#: Cycles of the lowest frequency in one segment of the spectrum, so that a Hann window
#: tells it from a drift. [1]
CYCLES: Final = 4

#: Cycles that the longest stretch must hold, or the lowest frequency is not seen. [1]
LEAST_CYCLES: Final = 2

#: Share of one over the averaging time up to which what an average took can be given
#: back: its gain is 0.23 there and falls to zero at one. [1]
GIVEN_BACK: Final = 0.8

#: Gain below which what is left of a swing is not divided by it: noise would be told
#: for swings. [1]
LEAST_GAIN: Final = 0.23


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Power density over frequency.

    Attributes:
        hz: Frequencies. [Hz]
        density: One-sided power spectral density. [W^2/Hz]
        highest_hz: Highest frequency that the sensor shows. [Hz]
        stretch_s: Longest stretch without a hole. [s]
    """

    hz: "Numbers"
    density: "Numbers"
    highest_hz: float
    stretch_s: float

    def share(self, low_hz: float, high_hz: float) -> float | None:
        """Return the share of AC energy in a band, of what is seen. [1]

        Args:
            low_hz: Lower end. [Hz]
            high_hz: Upper end; what the sensor does not show is not in it. [Hz]
        """
        total = float(self.density @ self._within(0.0, self.highest_hz))
        inside = self._within(low_hz, min(high_hz, self.highest_hz))
        if not inside.any() or total <= 0:
            return None
        return float(self.density @ inside) / total

    def _within(self, low_hz: float, high_hz: float) -> "Numbers":
        """Return how much of what each frequency stands for is in a band. [1]

        Each stands for what is nearer to it than to its neighbours, so that two bands
        that touch share none of it. The mean, at 0 Hz, is no swing.
        """
        width = float(self.hz[1]) if self.hz.size > 1 else 1.0
        low = np.maximum(self.hz - width / 2, low_hz)
        high = np.minimum(self.hz + width / 2, high_hz)
        return np.where(self.hz > 0, np.clip((high - low) / width, 0.0, 1.0), 0.0)

    def peak_hz(self) -> float | None:
        """Return the frequency with the most energy. [Hz]"""
        seen = (self.hz > 0) & (self.hz <= self.highest_hz)
        if not seen.any() or self.density[seen].max() <= 0:
            return None
        return float(self.hz[seen][np.argmax(self.density[seen])])

    def why_not(self, low_hz: float, high_hz: float) -> str | None:
        """Return why a band is not observable; None where it is."""
        if low_hz * self.stretch_s < LEAST_CYCLES:
            return (
                f"{self.stretch_s:.3g} s without a hole are too short for {low_hz:g} Hz"
            )
        if high_hz > self.highest_hz:
            return f"the sensor shows nothing above {self.highest_hz:.3g} Hz"
        return None


def spectrum(power_w: "Numbers", sensor: Sensor, hold: Hold, low_hz: float) -> Spectrum:
    """Return the spectrum of power by Welch's method.

    Each segment is freed of its linear trend and weighed by a Hann window; segments
    overlap by half. What was taken by holding readings until the next is given back,
    and what the sensor's average took, whose gain is `sinc(f T)`, up to 0.8 of the
    inverse of its time.
    Source: P. Welch, IEEE Trans. Audio Electroacoust. 15 (1967) 70.

    Args:
        power_w: Power on an even grid, NaN where it is not known. [W]
        sensor: What its sensor can show.
        hold: How old the readings are that it is made of.
        low_hz: Lowest frequency that is asked for. [Hz]
    """
    step_s = sensor.grid_ns / SECOND_NS
    highest = SECOND_NS / (2 * max(sensor.refresh_ns, sensor.grid_ns))
    if sensor.semantics == "average":
        highest = min(highest, GIVEN_BACK)
    stretches = _stretches(power_w)
    longest = max((len(one) for one in stretches), default=0)
    size = min(round(CYCLES / low_hz / step_s), longest)
    hz, density = _welch(stretches, size, step_s)
    hz, density = hz[hz <= highest], density[hz <= highest]
    gain = hold.gain(hz)
    if sensor.semantics == "average":
        gain = gain * np.sinc(hz * AVERAGED_NS / SECOND_NS)
    if (gain < LEAST_GAIN).any():
        faint = int(np.argmax(gain < LEAST_GAIN))
        hz, density, gain = hz[:faint], density[:faint], gain[:faint]
        highest = float(hz[-1])
    return Spectrum(hz, density / gain**2, highest, longest * step_s)


def _stretches(power_w: "Numbers") -> list["Numbers"]:
    known = np.isfinite(power_w)
    edges = np.flatnonzero(np.diff(known.astype(np.int8), prepend=0, append=0))
    return [
        power_w[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]


#: Points below which a segment has no spectrum.
_FEWEST: Final = 8


def _welch(
    stretches: list["Numbers"], size: int, step_s: float
) -> tuple["Numbers", "Numbers"]:
    from scipy.signal import welch

    if size < _FEWEST:
        return np.zeros(0), np.zeros(0)
    total, weight = np.zeros(size // 2 + 1), 0.0
    hz: Numbers = np.fft.rfftfreq(size, step_s).astype(np.float64)
    for stretch in stretches:
        if len(stretch) < size:
            continue
        _, density = welch(
            stretch, fs=1 / step_s, window="hann", nperseg=size, detrend="linear"
        )
        segments = (len(stretch) - size // 2) // (size - size // 2)
        total += density * segments
        weight += segments
    return hz, total / weight
