"""What the code of a kernel message means, as columns."""

from typing import Final

import polars as pl

from ingest.sources._kernel import patterns
from ingest.sources._kernel.evidence import EVIDENCE, Evidence
from ingest.xids import RECOVERY_ACTIONS, UNKNOWN_NAME, XIDS, Xid

_MESSAGE: Final = pl.col("message").str

#: Columns in the order of the families: xid, sxid, nic, kernel.
_FAMILIES: Final = ("xid", "sxid", "nic", "kernel")

#: Columns of what was found in messages, while it is needed.
_XID: Final = "_xid"
_SXID: Final = "_sxid"
_LINK: Final = "_link"
_ASKED: Final = "_asked"
_NIC: Final = "_nic"

#: Name of an error of a switch that tells no words of its own: no catalogue is public.
SWITCH_ERROR: Final = "NVSwitch error"


def with_codes(events: pl.DataFrame) -> pl.DataFrame:
    """Add `source`, `code`, `name`, `component`, `severity` and `action`.

    What messages have is looked for once.

    Args:
        events: Columns `message`, `kind` and `evidence`.
    """
    digits = _MESSAGE.extract(patterns.XID, 2)
    found = events.with_columns(
        # the code read, or 79 where the words alone say so
        digits.cast(pl.Int64).cast(pl.String).fill_null("79").alias(_XID),
        _MESSAGE.extract_groups(patterns.SXID).alias(_SXID),
        _MESSAGE.extract_groups(patterns.NVLINK5).alias(_LINK),
        _asked_action().alias(_ASKED),
        _nic_kind().alias(_NIC),
    )
    return found.with_columns(_columns()).drop(_XID, _SXID, _LINK, _ASKED, _NIC)


def _columns() -> list[pl.Expr]:
    values: dict[str, tuple[pl.Expr, ...]] = {
        "source": tuple(pl.lit(family) for family in _FAMILIES),
        "code": (pl.col(_XID), _sxid_code(), pl.col(_NIC), _evidence("code")),
        "name": (_xid_name(), _sxid_name(), _nic(1), _evidence("name")),
        "component": (
            _catalogue("component"),
            pl.lit("nvlink"),
            pl.lit("network"),
            _evidence("component"),
        ),
        "severity": (
            _xid_severity(),
            _sxid_severity(),
            _nic_severity(),
            _evidence("severity"),
        ),
        "action": (
            _xid_action(),
            pl.lit("inspect_nvlink"),
            pl.lit("inspect_hardware"),
            _evidence("action"),
        ),
    }
    return [_of_family(*four).alias(name) for name, four in values.items()]


def _of_family(xid: pl.Expr, sxid: pl.Expr, nic: pl.Expr, other: pl.Expr) -> pl.Expr:
    kind = pl.col("kind")
    return (
        pl.when(kind.is_in(patterns.OF_XID))
        .then(xid)
        .when(kind == "sxid")
        .then(sxid)
        .when(kind == "nic")
        .then(nic)
        .otherwise(other)
    )


def _catalogue(field: str, default: str | None = None) -> pl.Expr:
    position = Xid._fields.index(field)
    meanings = {str(code): str(xid[position]) for code, xid in XIDS.items()}
    return pl.col(_XID).replace_strict(
        meanings, default=default, return_dtype=pl.String
    )


def _injected() -> pl.Expr:
    """Return whether an error was put in by a test, and is no failure."""
    return (pl.col(_LINK).struct[2] != "0").fill_null(value=False)


def _xid_name() -> pl.Expr:
    name = _catalogue("name", UNKNOWN_NAME)
    return pl.when(_injected()).then(name + " (injected)").otherwise(name)


def _xid_severity() -> pl.Expr:
    """Return the catalogue's severity, unless the message itself tells."""
    of_link = pl.col(_LINK).struct[1]
    return (
        pl.when(_injected() | (pl.col(_ASKED) == "none"))
        .then(pl.lit("info"))
        .when(of_link == "Fatal")
        .then(pl.lit("fatal"))
        .otherwise(_catalogue("severity"))
    )


def _xid_action() -> pl.Expr:
    """Return the catalogue's action, for 154 the one that its message asks for."""
    known = pl.coalesce(_ASKED, _catalogue("action"))
    return pl.when(_injected()).then(pl.lit("none")).otherwise(known)


def _asked_action() -> pl.Expr:
    asked = _MESSAGE.extract(
        r"NVRM: Xid .*action changed from 0x[0-9a-fA-F]+ .* to 0x0*([0-9a-fA-F]+)"
    )
    return asked.replace_strict(
        dict(RECOVERY_ACTIONS), default=None, return_dtype=pl.String
    )


def _sxid_code() -> pl.Expr:
    return pl.col(_SXID).struct[1].cast(pl.Int64).cast(pl.String)


def _sxid_name() -> pl.Expr:
    """Return the words of a switch error, without severity and link."""
    words = pl.col(_SXID).struct[2]
    plain = words.str.replace(r"^(?:Non-)?[Ff]atal(?:, |$)", "")
    plain = plain.str.replace(r"^Link -?[0-9]+ ", "").str.strip_chars()
    return pl.when(plain == "").then(None).otherwise(plain).fill_null(SWITCH_ERROR)


def _sxid_severity() -> pl.Expr:
    words = pl.col(_SXID).struct[2]
    return (
        pl.when(words.str.contains(r"^Fatal"))
        .then(pl.lit("fatal"))
        .when(words.str.contains(r"^Non-fatal"))
        .then(pl.lit("warning"))
        .otherwise(pl.lit("error"))
    )


def _nic_kind() -> pl.Expr:
    """Return the code of a network card's message."""
    found = pl.lit(None, pl.String)
    for code, (pattern, _, _) in reversed(patterns.NICS.items()):
        found = pl.when(_MESSAGE.contains(pattern)).then(pl.lit(code)).otherwise(found)
    return found


def _nic(field: int) -> pl.Expr:
    """Return the name (1) or severity (2) of a network card's message."""
    meanings = {code: kind[field] for code, kind in patterns.NICS.items()}
    return pl.col(_NIC).replace_strict(meanings, default=None, return_dtype=pl.String)


def _nic_severity() -> pl.Expr:
    word = _MESSAGE.extract(patterns.NIC_MODULE)
    known = pl.when(word.is_in(["info", "warning", "error", "fatal"])).then(word)
    return pl.coalesce(known, _nic(2))


def evidence() -> pl.Expr:
    """Return which kind of evidence a message is, by its place in EVIDENCE."""
    found = pl.lit(None, pl.Int16)
    for place, one in reversed(list(enumerate(EVIDENCE))):
        fits = _MESSAGE.contains(rf"^(?:{one.pattern})")
        found = pl.when(fits).then(pl.lit(place, pl.Int16)).otherwise(found)
    return pl.when(pl.col("kind") == "kernel").then(found)


def _evidence(field: str) -> pl.Expr:
    position = Evidence._fields.index(field)
    meanings = {place: one[position] for place, one in enumerate(EVIDENCE)}
    return pl.col("evidence").replace_strict(
        meanings, default=None, return_dtype=pl.String
    )
