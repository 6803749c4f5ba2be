"""One XML document of nvidia-smi, fed in pieces: the GPUs that it is about.

The documents name a DTD that is never fetched. Entities are refused before one is
declared, so none can grow, and what is kept of a document is bounded.
"""

from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from ingest.errors import TelemetryError
from ingest.sources._power.fields import ADDRESS
from ingest.sources._power.smi_names import FIELD_OF_PATH

#: Elements within each other; nvidia-smi has seven.
DEPTH: Final = 64

#: Characters of a text that are kept; the longest that is read, a UUID, has 40.
TEXT_CHARACTERS: Final = 200

#: GPUs of one document, more than a node can have: finished ones are kept until taken.
GPUS: Final = 4_096

ROOT: Final = "nvidia_smi_log"


class BrokenDocumentError(TelemetryError):
    """A document that is not read on; its text is the rule that it breaks."""


@dataclass(slots=True)
class Gpu:
    """A GPU of a document.

    Attributes:
        line: Line on which it starts.
        stamp: Time of its document, as it was found.
        cells: Its fields, by name.
    """

    line: int
    stamp: str | None
    cells: dict[str, str] = field(default_factory=dict)


class Document:
    """A document that is being read.

    Attributes:
        gpus: Finished GPUs that were not taken yet.
        open: The GPU that is being read.
        has_root: Whether the prolog is over.
    """

    def __init__(self, line: int) -> None:
        """Start at a line of the file."""
        self._line = line
        self.gpus: list[Gpu] = []
        self.open: Gpu | None = None
        self.has_root = False
        self._stamp: str | None = None
        self._path: list[str] = []
        self._text: list[str] = []
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse_entity

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        """Read on.

        Raises:
            BrokenDocumentError: If it is no XML, declares entities, or is too large.
        """
        try:
            self._parser.Parse(data, is_last)
        except expat.ExpatError as error:
            ended = is_last and error.code in _UNFINISHED
            message = "truncated" if ended else "xml"
            raise BrokenDocumentError(message) from error

    def at(self) -> int:
        """Return the line that was read last."""
        return self._line + self._parser.CurrentLineNumber - 1

    def take(self) -> list[Gpu]:
        """Return the GPUs that were finished since it was last asked."""
        taken, self.gpus = self.gpus, []
        return taken

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.has_root = True
        self._path.append(name)
        self._text.clear()
        if len(self._path) > DEPTH or len(self.gpus) > GPUS:
            message = "too_large"
            raise BrokenDocumentError(message)
        if self._path == [ROOT, "gpu"]:
            self.open = Gpu(self.at(), self._stamp)
            if address := attributes.get("id"):
                self.open.cells[ADDRESS] = address[:TEXT_CHARACTERS]

    def _end(self, _name: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if self._path == [ROOT, "timestamp"]:
            self._stamp = text
        elif self._path == [ROOT, "gpu"] and self.open:
            self.gpus.append(self.open)
            self.open = None
        elif self.open and text:
            name = FIELD_OF_PATH.get(tuple(self._path[2:]))
            if name:
                self.open.cells.setdefault(name, text)
        self._path.pop()

    def _characters(self, data: str) -> None:
        if not self._text:
            self._text.append(data[:TEXT_CHARACTERS])

    def _refuse_entity(self, *_declared: object) -> None:
        message = "xml_entity"
        raise BrokenDocumentError(message)


_UNFINISHED: Final = frozenset(
    {
        expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],
        expat.errors.codes[expat.errors.XML_ERROR_PARTIAL_CHAR],
        expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION],
    }
)
