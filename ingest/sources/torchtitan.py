"""Structured logs of torchtitan: one file of JSON lines per rank.

`structured_logs/{source}.global_rank_{rank}.{time}-{random}.jsonl`: a line per start,
error and end of a span and per metric (torchtitan, observability/structured_logger).

* A step takes what its end says: `value`, milliseconds of the process's monotonic
  clock, read exactly from the text. The difference of the time stamps would also hold
  corrections of the wall clock and the time that logging took; it is used only where
  an end has no value.
* Spans are times of the CPU around launches that return early, so nothing is said of
  computing, communicating or waiting. Only the input and checkpoints block the CPU.
* A step that raised, or whose batch did not come, was not completed: it is refused, as
  one is that the log ends in. So is a checkpoint.
* A restart repeats steps in another file; only the time tells the attempt.
* Collecting garbage stops the process: each pause is a timer, told when it ended.
* Loss and gradient norm come from rank 0 alone: the table has one row per step.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec

from ingest.sources._lines import blocks
from ingest.sources._lines_json import decode, head_records
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._steps.events import Event
from ingest.sources._steps.found import Found
from ingest.sources._steps.metrics import METRIC, Metrics
from ingest.sources._steps.spans import Spans
from ingest.tables import Checkpoints, StepTimings, Timers, TrainingMetrics

_FIELDS: Final = frozenset(
    {"log_type", "log_type_name", "global_rank", "time_us", "seq_id", "source"}
)


def recognizes(head: Head) -> bool:
    """Return whether a line has the fields that only this logger writes together."""
    return any(record.keys() >= _FIELDS for record in head_records(head))


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log. Spans stay open from one batch to the next."""
    found = Found(reading.run_id)
    spans, metrics = Spans(found), Metrics(found)
    decoder = msgspec.json.Decoder(Event)
    for block in blocks(stream):
        records, refused = decode(block, decoder, StepTimings)
        found.keep(refused)
        for record in records:
            event = record.value
            if event.process[0] is None:
                found.refuse(StepTimings, record, "global_rank|required")
            elif event.log_type_name == METRIC:
                metrics.take(record, spans)
            elif event.log_type == "event":
                spans.take(record)
        yield found.take(len(records) + len(refused), block.repairs)
    spans.close()
    metrics.close()
    yield found.take(0, 0)


SOURCE: Final = Source(
    name="torchtitan",
    version=2,
    describes="JSON lines of torchtitan's structured logger, one file per rank",
    tables=(StepTimings, Checkpoints, TrainingMetrics, Timers),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
)
