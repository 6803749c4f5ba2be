"""Words on what breaks, is planned and burns, each with its one meaning."""

from typing import Final

from reports._section import Definition

_RATES: Final = "exact Poisson interval at 95 % (Garwood 1936)"

#: Interruptions, rates, plans and power, in the order of reading.
WORDS: Final[tuple[Definition, ...]] = (
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
