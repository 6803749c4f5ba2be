"""What tests of sources of failures share: the sample, the laws under damage."""

import io
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from ingest.sources import SOURCES, Source
from ingest.sources._source import Head
from ingest.tables import Failures
from tests.ingest.readings import held, reading, records, rows

FORMATS = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"


def sample_of(source: Source) -> bytes:
    (path,) = (FORMATS / source.name).iterdir()
    return path.read_bytes()


def read_bytes(source: Source, data: bytes) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the rows and the refusals of a file, which must keep the laws."""
    batches = held(
        source.read(io.BytesIO(data), reading(modified_ns=1_772_500_000 << 30))
    )
    found = rows(batches, Failures)
    keys = [tuple(row.get(name) for name in Failures.key) for row in found]
    assert len(set(keys)) == len(keys)
    refused = [one for batch in batches for one in batch.refused]
    assert records(batches) >= len(refused)
    return found, refused


def takers(data: bytes) -> list[str]:
    """Return the sources that recognize a file."""
    head = Head("any", data[:65_536])
    return [source.name for source in SOURCES if source.recognizes(head)]


def damage(whole: bytes) -> st.SearchStrategy[bytes]:
    """Return damaged copies: cut, with a byte changed, with a piece twice."""
    at = st.integers(0, len(whole) - 1)
    return st.one_of(
        at.map(lambda n: whole[:n]),
        st.tuples(at, st.integers(0, 255)).map(
            lambda it: whole[: it[0]] + bytes([it[1]]) + whole[it[0] + 1 :]
        ),
        st.tuples(at, at).map(lambda it: whole[: it[0]] + whole[it[1] :]),
    )
