"""Rows of Failures from the lines of Slurm's daemons, all of a file together."""

import re
from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._kernel.envelopes import with_envelope
from ingest.sources._slurm import ctld_messages as messages
from ingest.sources._slurm.ctld_kinds import KINDS
from ingest.sources._slurm.nodes import CODES, PLANNED, component
from ingest.sources._slurm.sacct_hosts import expand, expand_all
from ingest.sources._source import RAW_CHARACTERS, Reading, Refusal
from ingest.tables import Failures
from ingest.times import SECOND_NS

#: Time of Slurm's own log files, and its zone where LogTimeFormat has one.
BRACKET: Final = (
    r"(?:slurm[0-9A-Za-z_]{0,8}: )?"
    r"\[(?:19[7-9]|20[0-9]|21[0-9])[0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\] "
)

#: Time, node and daemon in syslog and in the journal.
TAG: Final = r".{0,120}?\b(slurm(?:ctld|d|stepd))(?:\[[0-9]{1,10}\])?: "

#: How long before a state is set its reason is told: the two are one request. [ns]
REASON_NS: Final = SECOND_NS

#: Rows of a file whose lines name lists of nodes: more than every node of the largest
#: machine drained a hundred times.
FILE_ROWS: Final = 1_000_000

#: Name of a node in the name of its log: slurmd.gpu001.log, gpu001-slurmd.log.
_LOG_OF: Final = re.compile(
    r"slurmd[._-](?!log\b)([A-Za-z][0-9A-Za-z_-]*)"
    r"|([A-Za-z][0-9A-Za-z_-]*?)[._-]slurmd\b"
)

#: Columns of a row; the others of the table are null.
_STORED: Final = (
    "cluster",
    "host",
    "time_ns",
    "boot_offset_ns",
    "time_quality",
    "source",
    "code",
    "name",
    "component",
    "severity",
    "message",
    "inferred",
    "line_count",
    "occurrence",
)

_NAMES: Final = {code: name for code, _, name, _ in CODES} | {
    "node_resumed": "node was returned to service"
}
_SEVERITIES: Final = {code: severity for code, _, _, severity in CODES} | {
    "node_resumed": "info"
}


def events_of(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return a row for each telling line, its `nodes` not expanded yet.

    Args:
        lines: Columns `number`, `line` and `year` of lines that may tell of a failure.
        reading: What is known about the file.
    """
    split = lines.select(
        "number",
        "year",
        prefix=pl.col("line").str.extract(f"^({BRACKET}|{TAG})").fill_null(""),
        message=pl.col("line").str.replace(f"^(?:{BRACKET}|{TAG})", ""),
        raw=pl.col("line").str.head(RAW_CHARACTERS),
    )
    placed = with_envelope(split, reading).with_columns(*messages.matched())
    told = _with_reasons(placed).filter(
        pl.when("sets")
        .then(pl.col("set_to").is_not_null())
        .otherwise(pl.col("kind").is_not_null())
    )
    return told.with_columns(*_codes(), nodes=_nodes(reading)).with_columns(
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over("raw"),
        bad_time=pl.col("stamped") & pl.col("time_ns").is_null(),
    )


def _with_reasons(lines: pl.DataFrame) -> pl.DataFrame:
    """Give a change of state the reason that was told right before it."""
    message = pl.col("message")
    about = pl.coalesce("nodes", message.str.extract(messages.REASON))
    reasons = message.str.extract(messages.REASON, 2)
    when = pl.when(reasons.is_not_null()).then("time_ns")
    known = lines.with_columns(_about=about, _reason=reasons, _when=when).with_columns(
        pl.col("_reason", "_when").forward_fill().over("_about")
    )
    is_near = (pl.col("time_ns") - pl.col("_when")) <= REASON_NS
    lent = pl.when(is_near & pl.col("sets")).then("_reason")
    own = message.str.extract(messages.WITH_REASON)
    return known.with_columns(
        reason=pl.coalesce(own, lent), lent=own.is_null() & lent.is_not_null()
    )


def _codes() -> list[pl.Expr]:
    """Return `code`, `name`, `component`, `severity` and `line_count`."""
    planned = (pl.col("set_to") == "node_drain") & pl.col("reason").str.contains(
        PLANNED
    ).fill_null(value=False)
    severity = pl.col("set_to").replace_strict(_SEVERITIES, default=None)
    told = component(pl.coalesce("reason", "message"))
    of_state = {
        "code": pl.col("set_to"),
        "name": pl.col("set_to").replace_strict(_NAMES, default=None),
        "component": told,
        "severity": pl.when(planned).then(pl.lit("info")).otherwise(severity),
    }
    of_kind = {
        "code": _of_kind([kind.code for kind in KINDS]),
        "name": _of_kind([kind.name for kind in KINDS]),
        "component": pl.coalesce(_of_kind([kind.component for kind in KINDS]), told),
        "severity": _of_kind([kind.severity for kind in KINDS]),
    }
    return [
        *(
            pl.when("sets").then(value).otherwise(of_kind[name]).alias(name)
            for name, value in of_state.items()
        ),
        (1 + pl.col("lent").cast(pl.Int64)).alias("line_count"),
    ]


def _of_kind(values: list[str] | list[str | None]) -> pl.Expr:
    """Return what each kind has for a value."""
    places = list(range(len(KINDS)))
    return pl.col("kind").replace_strict(
        places, values, default=None, return_dtype=pl.String
    )


def _nodes(reading: Reading) -> pl.Expr:
    """Return the nodes that are named, else the node whose daemon speaks."""
    found = _LOG_OF.search(reading.name)
    named = pl.lit((found[1] or found[2]) if found else None, pl.String)
    is_node = pl.col("prefix").str.extract(TAG).is_in(["slurmd", "slurmstepd"])
    of_line = pl.when(is_node.fill_null(value=False)).then("host")
    return pl.coalesce(pl.col("nodes").str.strip_chars(",."), of_line, named)


def rows_of(events: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return a row of Failures for each node of some events."""
    lists = [text for text in events["nodes"].unique() if text]
    known = {text: (expand(text) or text).split(",") for text in lists}
    hosts = [known.get(text or "", [None]) for text in events["nodes"]]
    spread = events.with_columns(host=pl.Series(hosts, dtype=pl.List(pl.String)))
    return (
        spread.explode("host")
        .with_columns(
            cluster=pl.lit(reading.cluster),
            source=pl.lit("scheduler"),
            inferred=pl.lit(value=False),
            message=pl.col("message").str.head(RAW_CHARACTERS),
            place=phrase("line {}", "number"),
        )
        .select(*_STORED, "place")
    )


def refusals_of(events: pl.DataFrame) -> tuple[Refusal, ...]:
    """Return the lines whose time is none, or whose node list is none."""
    lists = events["nodes"].drop_nulls().unique(maintain_order=True)
    known = expand_all(text for text in lists if text)
    size = pl.col("nodes").replace_strict(
        list(known),
        [0 if names is None else names.count(",") + 1 for names in known.values()],
        default=1,
        return_dtype=pl.Int64,
    )
    of_lists = pl.when(size > 1).then(size).otherwise(0).cum_sum()
    is_past = (size > 1) & (of_lists > FILE_ROWS)
    rule = (
        pl.when("bad_time")
        .then(pl.lit("time"))
        .when((size == 0) | is_past)
        .then(pl.lit("node_list"))
    )
    refused = events.with_columns(rule=rule).drop_nulls("rule")
    return tuple(
        Refusal(Failures, f"line {number}", broken, raw)
        for number, broken, raw in refused.select("number", "rule", "raw").iter_rows()
    )
