"""Failures from what Slurm says of its nodes: states, reasons, who and when.

A node that is up gives no row. A listing of reasons alone (sinfo -R) has only nodes
that are down, drained or failing; which of it is inferred from the reason. A drain
whose reason speaks of planned work is a notice. Listings repeat a node for each of its
partitions; that is one row.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._slurm.cells import instant, is_naive
from ingest.sources._slurm.sacct_hosts import expand_all
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import Failures

#: Rows that the records of a block of 4 MiB make, one for each node; some 150 MB.
BLOCK_ROWS: Final = 500_000

#: Fields of a node, by the names that this module has for them.
FIELDS: Final = ("Nodes", "State", "Reason", "Since")

#: Codes by the words of a state, the worst first; each with its meaning and severity.
CODES: Final = (
    ("node_down", r"^(?:DOWN|ERROR)$", "node is down", "error"),
    ("node_fail", r"^FAIL(?:ING|G)?$", "node is set to fail", "error"),
    (
        "node_invalid",
        r"^INVAL(?:ID_REG|ID)?$",
        "node lacks what it should have",
        "error",
    ),
    ("node_drain", r"^(?:DRAIN(?:ED|ING)?|DRNG)$", "node is drained", "warning"),
    ("node_not_responding", r"^NOT_RESPONDING$", "node does not respond", "warning"),
)

#: Words of reasons, and the component that they tell of; the first that fits.
_COMPONENTS: Final = {
    "gpu": r"(?i)gpu|xid|nvidia|nvlink|nvswitch|dcgm",
    "network": r"(?i)\bib\b|infiniband|\bhca|mlx|\bnic\b|ethernet|\blink|roce|network",
    "memory": r"(?i)dimm|memory|\bram\b|\becc\b|\bmce\b",
    "disk": r"(?i)disk|nvme|\bssd|filesystem|\bmount",
    "software": r"(?i)kill task failed|prolog|epilog|not ending|slurmd|batch job",
}

#: Words of a reason for work that somebody planned.
PLANNED: Final = (
    r"(?i)\bmaint|upgrade|firmware|\bpatch|reboot (?:asap|requested|issued)|reimag"
    r"|reservation|decommission|\btest"
)


#: Reasons that Slurm itself gives to a node that it sets down.
_DOWN: Final = r"^(?:Not responding|Node unexpectedly rebooted|node_down)"

#: What stands behind a reason in records: who gave it, and when.
_STAMP: Final = r"^(.*?) ?\[([^\[\]@]*)@([^\[\]]*)\]$"


def with_stamp(frame: pl.DataFrame) -> pl.DataFrame:
    """Split the stamp off a Reason, into `Since`."""
    parts = pl.col("Reason").str.extract_groups(_STAMP)
    return frame.with_columns(
        Reason=pl.coalesce(parts.struct[0], "Reason"), Since=parts.struct[2]
    )


def node_batch(nodes: pl.DataFrame, reading: Reading) -> Batch:
    """Return the failures of nodes.

    Args:
        nodes: `place`, `raw` and the columns of FIELDS, all text.
        reading: What is known about the file.
    """
    failing = nodes.with_columns(pl.col(list(FIELDS)).str.strip_chars()).with_columns(
        _words()
    )
    coded = failing.with_columns(code=_code()).drop_nulls("code")
    timed = coded.with_columns(
        time_ns=instant("Since", reading.zone),
        naive=is_naive("Since"),
        hosts=_hosts(coded),
    )
    bad = timed.filter(pl.col("hosts").is_null())
    refused = tuple(
        Refusal(Failures, place, "node_list", raw[:RAW_CHARACTERS])
        for place, raw in bad.select("place", "raw").iter_rows()
    )
    rows = _rows(timed.drop_nulls("hosts"), reading)
    used = bool(timed["naive"].any())
    return Batch({Failures: rows} if len(rows) else {}, refused, zone_used=used)


def _words() -> pl.Expr:
    """Return the words of a state, in capitals and without marks."""
    is_down = pl.col("Reason").str.contains(_DOWN)
    inferred = pl.when(is_down).then(pl.lit("DOWN")).otherwise(pl.lit("DRAIN"))
    untold = pl.when(_is_told()).then(inferred)
    upper = pl.coalesce(pl.col("State").str.to_uppercase(), untold)
    silent = pl.when(upper.str.contains("*", literal=True)).then(
        pl.lit("+NOT_RESPONDING")
    )
    text = pl.concat_str(
        upper.str.replace_all(r"[*~#!%$@^-]", ""), silent.fill_null("")
    )
    return text.str.split("+").alias("words")


def _is_told() -> pl.Expr:
    reason = pl.col("Reason")
    return reason.is_not_null() & ~reason.is_in(["", "none", "None", "N/A", "(null)"])


def _code() -> pl.Expr:
    found = pl.lit(None, pl.String)
    for code, pattern, _, _ in reversed(CODES):
        fits = pl.col("words").list.eval(pl.element().str.contains(pattern)).list.any()
        found = pl.when(fits).then(pl.lit(code)).otherwise(found)
    return found


def _hosts(nodes: pl.DataFrame) -> pl.Series:
    """Return the nodes of each record; null where they are none, or past BLOCK_ROWS."""
    lists = nodes["Nodes"].drop_nulls().unique(maintain_order=True)
    known = expand_all(text for text in lists if text)
    hosts = nodes["Nodes"].replace_strict(
        list(known), list(known.values()), default=None, return_dtype=pl.String
    )
    rows = (hosts.str.count_matches(",") + 1).cast(pl.Int64).fill_null(0).cum_sum()
    return hosts.set(rows > BLOCK_ROWS, None)


def _rows(nodes: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return a row of Failures for each node."""
    reason = pl.col("Reason").fill_null("")
    severity = pl.col("code").replace_strict({c[0]: c[3] for c in CODES})
    planned = (pl.col("code") == "node_drain") & reason.str.contains(PLANNED)
    words = [
        phrase("State={}", "State"),
        pl.when(_is_told()).then(phrase("Reason={}", "Reason")),
    ]
    rows = nodes.with_columns(host=pl.col("hosts").str.split(",")).explode("host")
    return rows.select(
        "place",
        "host",
        "time_ns",
        "code",
        cluster=pl.lit(reading.cluster),
        source=pl.lit("scheduler"),
        name=pl.col("code").replace_strict({c[0]: c[2] for c in CODES}),
        component=component(reason),
        severity=pl.when(planned).then(pl.lit("info")).otherwise(severity),
        message=pl.concat_str(words, separator=" ", ignore_nulls=True).str.head(
            RAW_CHARACTERS
        ),
        time_quality=quality("time_ns", "naive", reading),
        inferred=pl.col("State").is_null(),
        line_count=pl.lit(1, pl.Int64),
        occurrence=pl.lit(0, pl.Int32),
    ).unique(["host", "code", "time_ns", "message"], keep="first", maintain_order=True)


def component(reason: pl.Expr) -> pl.Expr:
    """Return the component that a reason tells of, else the node as such."""
    found = pl.lit("host")
    for name, pattern in reversed(_COMPONENTS.items()):
        fits = reason.str.contains(pattern)
        found = pl.when(fits).then(pl.lit(name)).otherwise(found)
    return found


def quality(time: str, naive: str, reading: Reading) -> pl.Expr:
    """Return how a time is known."""
    assumed = pl.col(naive) & (reading.zone_basis == "assumed")
    return (
        pl.when(pl.col(time).is_null())
        .then(pl.lit("unknown"))
        .when(assumed)
        .then(pl.lit("zone_assumed"))
        .otherwise(pl.lit("exact"))
    )
