"""Host maps: all spares are kept, and nothing that is no map fills the memory."""

import io
from datetime import UTC

import pytest

from ingest.errors import UnreadableFileError
from ingest.sources import Reading, host_map
from ingest.sources.host_map import SOURCE
from ingest.tables import HostMap

READING = Reading(
    path="hosts.csv",
    name="hosts.csv",
    file_id="f",
    zone=UTC,
    zone_basis="assumed",
    run_id="r",
    run_id_basis="folder",
    cluster="c",
    modified_ns=0,
)


def test_spares_have_keys_of_their_own() -> None:
    text = "rank,host,local_rank\n0,n0,0\n,n1,0\n1,n0,1\n,n1,1\n"
    (batch,) = SOURCE.read(io.BytesIO(text.encode()), READING)
    rows = batch.rows[HostMap]
    assert rows.select("rank", "spare", "host").rows() == [
        (0, None, "n0"),
        (None, 0, "n1"),
        (1, None, "n0"),
        (None, 1, "n1"),
    ]
    assert rows.select(HostMap.key).is_unique().all()


@pytest.mark.parametrize("rows", [f"1,{'n' * 2_000}\n", "1,n\n" * 9, "\n" * 2_000])
def test_a_map_that_is_far_too_long_is_refused(
    monkeypatch: pytest.MonkeyPatch, rows: str
) -> None:
    monkeypatch.setattr(host_map, "MOST_ROWS", 8)
    monkeypatch.setattr(host_map, "MOST_BYTES", 1_024)
    stream = io.BytesIO(f"rank,host\n{rows}".encode())
    with pytest.raises(UnreadableFileError, match="at most 8 rows"):
        list(SOURCE.read(stream, READING))


def test_a_map_of_just_so_many_rows_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_map, "MOST_ROWS", 8)
    text = "rank,host\n" + "".join(f"{rank},n\n" for rank in range(8))
    (batch,) = SOURCE.read(io.BytesIO(text.encode()), READING)
    assert batch.records == 8


@pytest.mark.parametrize(
    "header", ["step,rank", "rank,host,watts", "rank,host,host", '"rank,host', "{"]
)
def test_a_table_that_is_no_map_is_refused(header: str) -> None:
    stream = io.BytesIO(f"{header}\n0,n0,1\n".encode())
    with pytest.raises(UnreadableFileError, match="a header with rank and host"):
        list(SOURCE.read(stream, READING))
