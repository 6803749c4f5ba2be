"""What could not be read of a trace as it was."""

from dataclasses import dataclass, field
from typing import Final

from ingest.sources._source import RAW_CHARACTERS, Batch, Refusal
from ingest.tables import Kernels, Table

#: Bytes of a refused record that are looked at: a character has four at most. [B]
RAW_BYTES: Final = 4 * RAW_CHARACTERS

#: Refused records that are held at once.
_HELD: Final = 1_000


@dataclass(slots=True)
class Losses:
    """Records refused and repairs made since the last batch.

    Attributes:
        table: Table that the records of a broken file are meant for.
        refused: The refused records.
        records: Records of any kind. [1]
        repairs: Repairs that reading needed. [1]
    """

    table: type[Table] = Kernels
    refused: list[Refusal] = field(default_factory=list)
    records: int = 0
    repairs: int = 0

    def refuse(self, rule: str, place: str, raw: bytes) -> None:
        """Note a record that is no event."""
        text = raw[:RAW_BYTES].decode(errors="replace")[:RAW_CHARACTERS]
        self.refused.append(Refusal(self.table, place, rule, text))
        self.records += 1

    def refuse_event(self, table: type[Table], rule: str, event: int, raw: str) -> None:
        """Note an event that makes no row of a table."""
        self.refused.append(Refusal(table, f"event {event}", rule, raw))

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch."""
        return len(self.refused) >= _HELD

    def take(self) -> Batch:
        """Return a batch of what was noted, and forget it."""
        batch = Batch(
            refused=tuple(self.refused), records=self.records, repairs=self.repairs
        )
        self.refused, self.records, self.repairs = [], 0, 0
        return batch
