"""Words of the field, each with its one meaning, and where it comes from."""

import re
from functools import cache
from typing import Final

from markupsafe import Markup, escape

from reports._section import Definition
from reports._words import visible

_LEDGER: Final = "the ledger's order of accounts"
_OVERLAP: Final = "unions of intervals, as in Holistic Trace Analysis, in whole ns"
_WAITS: Final = (
    "arrivals of a collective's ranks, less a constant offset of each rank in its"
    " group, where common ends show one"
)
_RATES: Final = "exact Poisson interval at 95 % (Garwood 1936)"

#: Every word that the page explains, in the order of reading.
GLOSSARY: Final[tuple[Definition, ...]] = (
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
    Definition(
        "failure line",
        "A line of a log that tells of a failure. Its code is read, or inferred from"
        " words: 'fallen off the bus' without an Xid counts as Xid 79.",
        "failures.inferred marks the inferred ones",
    ),
    Definition(
        "incident",
        "One cause on one node or fabric, however many lines and events it wrote.",
        "same GPU and code with gaps of at most 5 s make an event; cascades, symptoms"
        " and user errors are told apart",
    ),
    Definition(
        "interruption",
        "A run that stopped. Attributed to an incident on its nodes from 10 min before"
        " to 5 min after the attempt's end.",
        "arXiv 2410.21680",
    ),
    Definition(
        "phase of an interruption",
        "hang: last completed step to the first sign in a log. detect: to the end of"
        " the attempt. decide: to its resubmission. requeue: to the next start. start:"
        " to the first new step. recompute: steps done again. Their GPU time is the"
        " ledger's restart and recompute, cut where something happened.",
        "as in SemiAnalysis, How much do GPU clusters really cost, 2026",
    ),
    Definition(
        "second-order cost",
        "What jobs of others lost that had to make room for a restart: the time since"
        " their last checkpoint, taken as half an hour where they ran so long.",
        "arXiv 2410.21680, goodput loss",
    ),
    Definition("MTBF", "Mean time between failures, with its interval.", _RATES),
    Definition(
        "best interval",
        "Work between two saves that leaves most useful time: saves stall, and the"
        " work since the last one is undone by an interruption.",
        "Daly, FGCS 22, 2006: exact for interruptions without memory",
    ),
    Definition(
        "node-days",
        "Nodes times the days in which they were observed; a rate counts per 1000.",
        _RATES,
    ),
    Definition(
        "lemon",
        "A node that fails more often than chance allows: below 0.05 over the number"
        " of nodes, by the rate of all others, whose spread is allowed for.",
        "gamma-Poisson, one node left out (Greenwood and Yule 1920)",
    ),
    Definition(
        "Weibull shape",
        "How stops are spread: at 1 they come at a constant rate, below 1 in clusters,"
        " above 1 regularly.",
        "maximum likelihood, interval by the profile; Schroeder and Gibson, DSN 2006",
    ),
    Definition(
        "on paper",
        "Worked out from the run card alone: formulas with the card's numbers, and"
        " what is assumed where the card is silent.",
        "each line of a plan names its formula and its inputs",
    ),
    Definition(
        "flow",
        "Data between two ports that a switch sends over one path. Which one, a hash"
        " of its addresses decides, so that several may share a path while others are"
        " empty.",
        "equal-cost multipath routing (RFC 2992); the fullest path as a multinomial"
        " maximum",
    ),
    Definition(
        "coverage",
        "Share of a window in which power was measured: nothing is assumed across"
        " gaps.",
        "energy counter where there is one, else the trapezoid rule",
    ),
    Definition(
        "ramp",
        "Change of the power of all GPUs together over a window, by its length:"
        " (P(t) - P(t - w)) / w.",
        "arXiv 2508.14318",
    ),
    Definition(
        "not observable",
        "The sensor could not have shown it: its readings change too rarely, or are"
        " means over a second. It is neither kept nor broken.",
        "a ramp needs two readings, and two times of averaging, in its window",
    ),
    Definition(
        "load factor",
        "Mean power over the highest, of all GPUs together.",
        "usage of power engineering",
    ),
    Definition(
        "AC energy",
        "What power swings by around its mean, as energy over frequency.",
        "Hann-Welch spectrum (Welch 1967) after each segment's trend is taken out",
    ),
    Definition(
        "PUE",
        "Energy of a facility over that of its machines. Where no run card tells it,"
        " what is said with it is said to be about.",
        "ISO/IEC 30134-2",
    ),
)


def explained(text: str) -> Markup:
    """Return a sentence with its first use of each word linked to the meaning.

    Args:
        text: A sentence that may hold anything; it is escaped first.
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        term = found[0].lower()
        if term in seen:
            return found[0]
        seen.add(term)
        meaning = escape(_meanings()[term])
        return (
            f'<a class="term" href="#{anchor(term)}" title="{meaning}">{found[0]}</a>'
        )

    return Markup(_pattern().sub(link, str(escape(visible(text)))))  # noqa: S704 - escaped


def anchor(term: str) -> str:
    """Return the name of the place on the page that explains a word."""
    return f"word-{term.lower().replace(' ', '-')}"


@cache
def _meanings() -> dict[str, str]:
    return {one.term.lower(): one.meaning for one in GLOSSARY}


@cache
def _pattern() -> re.Pattern[str]:
    terms = sorted((re.escape(term) for term in _meanings()), key=len, reverse=True)
    return re.compile(rf"(?<![\w&#;-])(?:{'|'.join(terms)})(?![\w;-])", re.IGNORECASE)
