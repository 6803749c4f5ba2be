"""One row per source file."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class IngestedFiles(Table):
    """One row per source file."""

    key: ClassVar = ("file_id",)

    file_id = c.identifier(
        "Hash of content, source, its version and the options that change rows."
    )
    path = c.text("Where the file was read from; `archive!/member` in an archive.")
    sha256 = c.identifier("SHA-256 of the expanded content.")
    source = c.identifier(
        "Source that read it; `unrecognized` where none claims it, `empty` where there"
        " is nothing to claim, `made-truth` where it is the truth about a made cluster."
    )
    reader_version = c.number("Version of that source.")
    bytes = c.size_bytes("Size of the expanded content.")
    rows_read = c.tally("Rows found in the file.")
    rows_accepted = c.tally("Rows in the lake.")
    rows_rejected = c.tally("Rows refused, each with its reason in rejected_rows.")
    rows_retired = c.tally("Rows whose day has been retired.")
    records_seen = c.number(
        "Records of any kind in the file; those no table is for make no row.",
        nullable=True,
    )
    repairs = c.tally("Repairs that were needed to read it.")
    zone = c.text("Zone of naive time stamps in the file.")
    zone_basis = c.choice(
        "Where the zone came from.",
        ("file", "mapping", "run_card", "option", "assumed", "none"),
    )
    run_id = c.identifier("Run that rows without one were given.", nullable=True)
    run_id_basis = c.choice(
        "Where that run came from.", ("run_card", "option", "folder", "none")
    )
    first_ns = c.time_ns("Earliest time in the file.", nullable=True)
    last_ns = c.time_ns("Latest time in the file.", nullable=True)
    ingested_ns = c.time_ns("When it was read.")
