"""Words on where time goes, each with its one meaning and where it comes from."""

from typing import Final

from reports._section import Definition

_LEDGER: Final = "the ledger's order of accounts"
_OVERLAP: Final = "unions of intervals, as in Holistic Trace Analysis, in whole ns"
_WAITS: Final = (
    "arrivals of a collective's ranks, less a constant offset of each rank in its"
    " group, where common ends show one"
)

#: Accounts, shares, waits and slowness, in the order of reading.
WORDS: Final[tuple[Definition, ...]] = (
    Definition(
        "productive",
        "Time of kept steps minus every stall and wait inside them. Where a source"
        " gives durations only, the whole step counts, as an upper bound.",
        _LEDGER,
    ),
    Definition(
        "exposed communication",
        "Time in which a GPU communicates and computes nothing:"
        " |U(communication) minus U(compute)| over the streams of a device.",
        _OVERLAP,
    ),
    Definition(
        "straggler wait",
        "From a rank's arrival at a collective to the last arrival.",
        _WAITS,
    ),
    Definition(
        "pipeline bubble",
        "Waiting at a pipeline send or receive, up to what the schedule costs with"
        " every operation at its peers' median.",
        "arXiv 2505.05713",
    ),
    Definition("data stall", "Time that a step was blocked on its input.", _LEDGER),
    Definition(
        "data feed",
        "The samples that the loader gives to each data-parallel replica and step."
        " Within a pass over a data set each is given once; ranks of a replica have"
        " the same. Steps that a restart does again read theirs again.",
        "intervals of samples over the kept steps of a run",
    ),
    Definition(
        "checkpoint stall",
        "Time that a step was blocked on writing a checkpoint.",
        _LEDGER,
    ),
    Definition(
        "recompute",
        "Steps whose number is repeated later: the whole first attempt at them.",
        _LEDGER,
    ),
    Definition(
        "restart",
        "A GPU held while no step makes progress: from the last completed step to the"
        " attempt's end, and from a start to the first completed step.",
        _LEDGER,
    ),
    Definition(
        "unallocated", "Paid for and in no attempt: a spare, or in repair.", _LEDGER
    ),
    Definition("unattributed", "Paid for, and no evidence says what it was.", _LEDGER),
    Definition(
        "ETTR",
        "Effective training time ratio: time in steps that counted, stalls for"
        " checkpoints left out, over the run's clock time from its first submission to"
        " its end, queues included.",
        "arXiv 2410.21680",
    ),
    Definition(
        "goodput",
        "Productive GPU time over all GPU time that was paid for.",
        _LEDGER,
    ),
    Definition(
        "MFU",
        "Model FLOPs utilization: 6 x active parameters x tokens, over peak x GPUs x"
        " time in steps that counted. Blind to stops, as ETTR is to what a step does:"
        " the two are never multiplied.",
        "arXiv 2204.02311",
    ),
    Definition(
        "overlap ratio",
        "Share of communication that compute hides:"
        " |U(compute) and U(communication)| / |U(communication)|; none without"
        " communication.",
        _OVERLAP,
    ),
    Definition(
        "slowdown",
        "A rank's own work (duration minus waiting) over the median of its peers: same"
        " step, stage and role, itself left out; median over steps. 1.05 is 5 % slow.",
        "a minimum effect of 1 % tested on medians of blocks of 10 steps;"
        " q-values after Benjamini and Hochberg (1995)",
    ),
    Definition(
        "scatter",
        "What is left of slowest minus median work once flagged ranks work like their"
        " peers: the tax of size, never a repair.",
        "largest of n equal random times",
    ),
    Definition(
        "busbw",
        "Size over transfer time, times 2(n-1)/n for all-reduce, (n-1)/n for"
        " all-gather, reduce-scatter and all-to-all, 1 else. 1 GB/s is 1e9 B/s.",
        "PERFORMANCE.md of nccl-tests",
    ),
    Definition(
        "clock residual",
        "Spread of the ends that should be one instant, after the offset and the drift"
        " of each clock are taken out: those of each host, or of each trace where no"
        " host is known, fitted by robust least squares to the ends that they share,"
        " for each spell of profiling; a trace only where it is further off than"
        " ranks leave apart, 20 \N{MICRO SIGN}s. A wait below the residual is no"
        " evidence.",
        _WAITS,
    ),
)
