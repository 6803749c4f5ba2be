"""One row per refused record."""

from typing import ClassVar

from ingest.tables import _columns as c
from ingest.tables._table import Table


class RejectedRows(Table):
    """One row per refused record."""

    key: ClassVar = ("file_id", "table_name", "place", "rule")

    file_id = c.identifier("File that the record is in.")
    table_name = c.identifier("Table that the record was meant for.")
    place = c.identifier("Where in the file: a line, a byte offset, an event.")
    rule = c.identifier("Rule that the record breaks.")
    raw = c.text("The record as it was found, cut to 2,000 characters.")
    hint = c.text("What was expected, or what the record looks like.")
