"""Spares of a host map: all of them are kept."""

import io
from datetime import UTC

from ingest.sources import Reading
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
