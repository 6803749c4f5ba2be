"""A small fleet and its run from a seed, in the raw formats, with the truth beside.

Everything that is written follows from one simulated run, so that the sources agree in
time and a report over them has answers that are known beforehand.
"""

from ingest.synthetic.sample import write_sample, write_scenario
from ingest.synthetic.scenario import Scenario

__all__ = ["Scenario", "write_sample", "write_scenario"]
