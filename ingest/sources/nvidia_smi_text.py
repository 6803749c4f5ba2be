"""Text of `nvidia-smi -q`, one look or, with `-l`, one after the other.

* The keys of power, clocks and reasons moved with the schemas of the XML: see
  _power.smi_names. `Power Draw` is stored as `power_average_w`, as in a log of
  `--query-gpu`.
* The time of a look is local and in whole seconds: its zone comes from the run card or
  `--zone`, and without either the rows are `zone_assumed`.
* A look that asks for something else (`-d MEMORY`) makes no rows.
* Such text is read among other text: each look starts at a line of its own, and a line
  of `#` ends it. Of a capture of nvidia_gpu_exporter, which holds the output of many
  commands, only the looks are read.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_frames import line_frames
from ingest.sources._power.rows import any_measured, batch, placed, samples
from ingest.sources._power.smi_facts import Facts
from ingest.sources._power.smi_names import FIELDS
from ingest.sources._power.stamps import asctime
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

_LOG: Final = re.compile(r"^=+NVSMI LOG=+\s*$", re.MULTILINE)

#: The head of a capture for the tests of nvidia_gpu_exporter, whose looks come late.
_CAPTURE: Final = "# nvidia_gpu_exporter GPU capture"

#: Fields that a look may have; their units are in their lines.
_UNITS: Final = dict.fromkeys(FIELDS, "")

_HINTS: Final = {TRUNCATED: "the file ends before the last line of this GPU"}


def recognizes(head: Head) -> bool:
    """Return whether a look starts in the head, or will come."""
    has_log = "=NVSMI LOG=" in head.text and _LOG.search(head.text) is not None
    return has_log or _CAPTURE in head.text[:1_000]


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read looks, and of each one GPU after the other."""
    facts = Facts()
    is_cut = False
    for lines in line_frames(stream, PowerSamples):
        is_cut = lines.cut_short
        yield Batch(
            refused=lines.refused, records=len(lines.refused), repairs=lines.repairs
        )
        yield _batch(facts.add(lines.frame), reading)
    gpus = facts.add(_NO_LINES, is_last=True)
    rule = pl.lit(TRUNCATED if is_cut else None, pl.String)
    yield _batch(gpus.with_columns(rule=rule), reading)


def _batch(gpus: pl.DataFrame, reading: Reading) -> Batch:
    told = gpus.filter(any_measured(_UNITS))
    timed = told.with_columns(*placed(asctime(pl.col("stamp")), reading))
    found = samples(timed, _UNITS, reading)
    return batch(found, gpus.height, zone_used=True, hints=_HINTS)


_NO_LINES: Final = pl.DataFrame(schema={"number": pl.UInt32, "line": pl.String})

SOURCE: Final = Source(
    name="nvidia-smi-text",
    version=3,
    describes="text of nvidia-smi -q, one look or many",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
