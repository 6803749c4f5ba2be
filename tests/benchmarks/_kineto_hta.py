"""Read a trace and measure its overlap with HolisticTraceAnalysis; print as JSON.

Run by the Python of an environment of its own, in which this project is not.
"""

import json
import sys
import time

from _peak import peak_mb  # type: ignore[import-not-found]
from hta.trace_analysis import TraceAnalysis  # type: ignore[import-not-found]


def main(trace: str) -> None:
    """Read one rank and take its overlap of computation and communication."""
    began, cpu_began = time.perf_counter(), time.process_time()
    analysis = TraceAnalysis(trace_files={0: trace}, trace_dir="")
    read_at = time.perf_counter()
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    ended, cpu_ended = time.perf_counter(), time.process_time()
    told = {
        "parse_s": read_at - began,
        "total_s": ended - began,
        "cpu_s": cpu_ended - cpu_began,
        "peak_mb": peak_mb(),
        "overlap_percent": float(overlap["comp_comm_overlap_pctg"].iloc[0]),
    }
    sys.stdout.write("\n" + json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
