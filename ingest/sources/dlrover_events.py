"""Training events of DLRover (dlrover/python/training_event), one per line.

    [2025-04-21T23:31:09.074419] [426] [22b7ca89] [AtorchTrainerV2] [#step] [BEGIN] {}

Time, process, identity of the event, who tells it, its name, its kind, and its facts as
JSON. `BEGIN` and `END` of one identity bound a span; an `INSTANT` is alone.

* `#step`: the step that ends is `global_step` of its `END`. The log does not name the
  rank, so a step is one process's view of the run, of the scope `run_mean`.
* `#save` and `#load` are checkpoints; nothing tells how long training stood still.
* `#log` carries loss, gradient norm and skipped iterations.
* A save that has no end is one that was never done. Any other span that has none, and
  an end that nothing began, is refused.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._console.steps import batch as steps_batch
from ingest.sources._lines_frames import line_frames
from ingest.sources._source import RAW_CHARACTERS, Batch, Head, Reading, Refusal, Source
from ingest.sources._stamps import is_naive, iso_ns
from ingest.tables import Checkpoints, StepTimings, TrainingMetrics

_LINE: Final = (
    r"^\[([0-9T:.,+Z -]{19,40})\] \[([0-9]{1,10})\] \[([0-9A-Za-z-]{1,64})\] "
    r"\[([A-Za-z0-9_.]{1,80})\] \[#?([A-Za-z0-9_]{1,80})\] "
    r"\[(BEGIN|END|INSTANT)\] (\{.*)?$"
)
_HEAD: Final = re.compile(
    r"^\[[0-9T:.,+Z -]{19,40}\] \[[0-9]+\] \[[0-9A-Za-z-]+\] \[[\w.]+\] "
    r"\[#?\w+\] \[(?:BEGIN|END|INSTANT)\] ",
    re.MULTILINE,
)
_NUMBER: Final = r"([-+0-9.eE]{1,40}|NaN|-?Infinity)"
_SPANS: Final = {"step": StepTimings, "save": Checkpoints, "load": Checkpoints}

#: Spans that are open at once: more are events that never end. [1]
MOST_OPEN: Final = 100_000


def recognizes(head: Head) -> bool:
    """Return whether a line is an event."""
    may = any(kind in head.text for kind in ("[BEGIN]", "[END]", "[INSTANT]"))
    return may and _HEAD.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read events; spans stay open from one block to the next."""
    opened = pl.DataFrame(schema=_OPEN)
    for lines in line_frames(stream, StepTimings):
        events = _events(lines.frame, reading)
        odd = events.filter(pl.col("kind").is_null())
        yield Batch(
            refused=(*lines.refused, *_refusals(odd, "form")),
            records=len(lines.frame) + len(lines.refused),
            repairs=lines.repairs,
            zone_used=bool(events["naive"].any()),
        )
        yield _metrics(events.filter(kind="INSTANT", name="log"), reading)
        begins = events.filter(kind="BEGIN").select(_OPEN.names())
        begins = pl.concat([opened, begins.filter(pl.col("name").is_in(list(_SPANS)))])
        yield from _ended(begins, events.filter(kind="END"), reading)
        done = events.filter(kind="END").select("name", "event")
        still = begins.join(done, on=("name", "event"), how="anti")
        opened = still.tail(MOST_OPEN)
        yield _unended(still.head(still.height - opened.height), reading)
    yield _unended(opened, reading)


_OPEN: Final = pl.Schema(
    {
        "number": pl.UInt32,
        "raw": pl.String,
        "name": pl.String,
        "event": pl.String,
        "time_ns": pl.Int64,
        "step": pl.Int64,
    }
)


def _events(lines: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    line = pl.col("line")
    parts = line.str.extract_groups(_LINE)
    facts = parts.struct[6]
    return lines.select(
        "number",
        line.alias("raw"),
        parts.struct[4].alias("name"),
        parts.struct[2].alias("event"),
        iso_ns(parts.struct[0], reading.zone).alias("time_ns"),
        _integer(facts, "global_step").alias("step"),
        parts.struct[5].alias("kind"),
        is_naive(parts.struct[0]).alias("naive"),
        facts.alias("facts"),
    )


def _integer(facts: pl.Expr, key: str) -> pl.Expr:
    text = facts.str.extract(rf'"{key}": *([0-9]{{1,18}})[,}}]')
    return text.cast(pl.Int64, strict=False)


def _real(key: str) -> pl.Expr:
    text = pl.col("facts").str.extract(rf'"{key}": *{_NUMBER}[,}}]')
    return text.cast(pl.Float64, strict=False)


def _ended(
    begins: pl.DataFrame, ends: pl.DataFrame, reading: Reading
) -> Iterator[Batch]:
    """Yield the spans that end here, and refuse ends that nothing began."""
    ends = ends.filter(pl.col("name").is_in(list(_SPANS)))
    spans = ends.join(
        begins.unique(("name", "event"), keep="last"),
        on=("name", "event"),
        how="left",
        suffix="_begin",
        maintain_order="left",
    ).with_columns(duration_ns=pl.col("time_ns") - pl.col("time_ns_begin"))
    lost = ~(pl.col("duration_ns") >= 0)
    yield Batch(
        refused=_refusals(spans.filter(lost.fill_null(value=True)), "begin|required")
    )
    whole = spans.filter(pl.col("duration_ns") >= 0)
    steps = whole.filter(name="step").with_columns(start_ns="time_ns_begin")
    rule = pl.when(pl.col("step").is_null()).then(pl.lit("step|required"))
    yield steps_batch(steps.drop("naive").with_columns(rule=rule), reading)
    saved = _checkpoints(whole.filter(pl.col("name") != "step"), reading)
    yield Batch({Checkpoints: saved} if saved.height else {})


def _unended(begins: pl.DataFrame, reading: Reading) -> Batch:
    """Return saves that never ended as such, and refuse the other spans."""
    saves = begins.filter(name="save")
    nothing = pl.lit(None, pl.Int64)
    rows = _checkpoints(
        saves.with_columns(
            time_ns_begin="time_ns", step_begin="step", duration_ns=nothing
        ),
        reading,
    )
    return Batch(
        {Checkpoints: rows} if rows.height else {},
        refused=_refusals(begins.filter(pl.col("name") != "save"), "end|required"),
    )


def _checkpoints(spans: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    return spans.select(
        pl.coalesce("step", "step_begin"),
        "duration_ns",
        run_id=pl.lit(reading.run_id),
        kind="name",
        start_ns="time_ns_begin",
        place=phrase("line {}", "number"),
    )


def _metrics(logs: pl.DataFrame, reading: Reading) -> Batch:
    told = logs.drop("naive").with_columns(
        loss=pl.coalesce(_real("loss"), _real("lm loss")),
        grad_norm=pl.coalesce(_real("grad norm"), _real("grad_norm")),
        skipped=_real("number of skipped iterations") > 0,
        rule=pl.when(pl.col("step").is_null()).then(pl.lit("step|required")),
    )
    return steps_batch(told, reading) if told.height else Batch()


def _refusals(events: pl.DataFrame, rule: str) -> tuple[Refusal, ...]:
    shown = events.select(
        phrase("line {}", "number"), pl.col("raw").str.head(RAW_CHARACTERS)
    )
    return tuple(
        Refusal(StepTimings, place, rule, raw) for place, raw in shown.iter_rows()
    )


SOURCE: Final = Source(
    name="dlrover-events",
    version=3,
    describes="training events of DLRover: steps, checkpoints, metrics",
    tables=(StepTimings, Checkpoints, TrainingMetrics),
    options=frozenset({"zone", "run_id"}),
    recognizes=recognizes,
    read=read,
)
