"""Messages of the kernel log that tell of a failure, and what they say."""

from typing import Final

import polars as pl

from ingest.sources._source import RAW_CHARACTERS
from ingest.xids import RECOVERY_ACTIONS, UNKNOWN_NAME, XIDS, Xid

#: PCI address: domain, bus and device; the function is left out.
ADDRESS: Final = r"([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?"

#: First words of every message that matters, wherever in a line it starts.
STARTS: Final = (
    r"(?:NVRM: |(?:nvidia-nvswitch\d{0,4}: )?SXid |mlx5_|Port module event"
    r"|rtc_cmos |setting system clock )"
)

XID: Final = rf"NVRM: Xid \((?:PCI:)?{ADDRESS}[^)]{{0,40}}\):? ?(\d{{1,9}})(?:[,\s]|$)"
SXID: Final = rf"SXid \(PCI:{ADDRESS}\): (\d{{1,9}})(?:, ?(.*)|\s|$)"
_SXID_MORE: Final = r"SXid \(PCI:[^)]+\): \d+, (?:Severity|Data) "
_MALFORMED: Final = r"NVRM: Xid|nvswitch\d{0,4}: SXid"
_OFF_BUS: Final = rf"NVRM: GPU {ADDRESS}: GPU has fallen off the bus"
_OFF_BUS_HEAD: Final = rf"NVRM: The NVIDIA GPU {ADDRESS}"
_OFF_BUS_TAIL: Final = r"NVRM: .{0,200}fallen off the bus and is not responding"
_OFF_BUS_TAIL_BARE: Final = r"NVRM: fallen off the bus and is not responding"
UUID: Final = rf"NVRM: GPU at (?:PCI:)?{ADDRESS}: (GPU-[0-9A-Fa-f-]{{36}})"
_SERIAL: Final = r"NVRM: GPU Board Serial Number: ([0-9A-Za-z]{6,32})"
_SERIAL_AT: Final = rf"NVRM: GPU {ADDRESS}: GPU serial number is ([0-9A-Za-z]{{6,32}})"
_NIC_POWER: Final = r"mlx5_.*insufficient power on the PCIe slot"
_NIC_MODULE: Final = r"Port module event\[(\w{1,20})\]"
CLOCK: Final = r"setting system clock to .{0,60}\((\d{9,10})\)"

#: Kind of message by pattern, the first that fits.
_KINDS: Final = {
    "xid": XID,
    "sxid_more": _SXID_MORE,
    "sxid": SXID,
    "malformed": _MALFORMED,
    "off_bus": _OFF_BUS,
    "off_bus_tail": rf"{_OFF_BUS_TAIL}|{_OFF_BUS_TAIL_BARE}",
    "off_bus_head": _OFF_BUS_HEAD,
    "uuid": UUID,
    "serial": rf"{_SERIAL}|{_SERIAL_AT}",
    "nic_power": _NIC_POWER,
    "nic_module": _NIC_MODULE,
    "clock": CLOCK,
}

#: Kinds that are rows of their own.
EVENTS: Final = ("xid", "sxid", "off_bus", "off_bus_tail", "nic_power", "nic_module")

#: A line that may hold one of the kinds; cheap, so that it can run over every line.
CANDIDATE: Final = (
    "NVRM: |SXid|insufficient power|Port module event|setting system clock"
)


def message() -> pl.Expr:
    """Return the message of a line, from its first telling word on."""
    return pl.col("line").str.extract(rf"({STARTS}.*)$").str.head(RAW_CHARACTERS)


def prefix() -> pl.Expr:
    """Return what stands in front of the message: time, node, quotes."""
    return pl.col("line").str.extract(rf"^(.*?){STARTS}")


def kind() -> pl.Expr:
    """Return the kind of a message, null where it tells of nothing."""
    found = pl.lit(None, pl.String)
    for name, pattern in reversed(_KINDS.items()):
        fits = pl.col("message").str.contains(pattern)
        found = pl.when(fits).then(pl.lit(name)).otherwise(found)
    return found


def address() -> pl.Expr:
    """Return the PCI address in a message, as 0000:5d:00."""
    text = pl.col("message")
    patterns = (XID, SXID, _OFF_BUS, _OFF_BUS_HEAD, UUID, _SERIAL_AT)
    found = pl.coalesce(text.str.extract(pattern, 1) for pattern in patterns)
    return found.str.to_lowercase().str.replace("^0{1,4}([0-9a-f]{4}:)", "${1}")


def serial() -> pl.Expr:
    """Return the serial number that a message tells."""
    text = pl.col("message")
    return pl.coalesce(text.str.extract(_SERIAL), text.str.extract(_SERIAL_AT, 2))


def code_columns() -> list[pl.Expr]:
    """Return `source`, `code`, `name`, `component`, `severity` and `action`."""
    is_xid = pl.col("kind").is_in(["xid", "off_bus", "off_bus_tail"])
    is_sxid = pl.col("kind") == "sxid"
    columns: dict[str, tuple[pl.Expr | str, ...]] = {
        "source": ("xid", "sxid", "nic"),
        "code": (_xid_code(), _sxid_code(), _nic_code()),
        "name": (_catalogue("name", UNKNOWN_NAME), _sxid_name(), _nic_name()),
        "component": (_catalogue("component"), "nvlink", "network"),
        "severity": (_catalogue("severity"), _sxid_severity(), _nic_severity()),
        "action": (_xid_action(), "inspect_nvlink", "inspect_hardware"),
    }
    return [
        pl.when(is_xid)
        .then(_value(xid))
        .when(is_sxid)
        .then(_value(sxid))
        .otherwise(_value(nic))
        .alias(name)
        for name, (xid, sxid, nic) in columns.items()
    ]


def _value(value: pl.Expr | str) -> pl.Expr:
    return pl.lit(value) if isinstance(value, str) else value


def _xid_code() -> pl.Expr:
    """Return the code read, or 79 where the words alone say so."""
    digits = pl.col("message").str.extract(XID, 2)
    return digits.cast(pl.Int64).cast(pl.String).fill_null("79")


def _catalogue(field: str, default: str | None = None) -> pl.Expr:
    position = Xid._fields.index(field)
    meanings = {str(code): str(xid[position]) for code, xid in XIDS.items()}
    return _xid_code().replace_strict(meanings, default=default, return_dtype=pl.String)


def _xid_action() -> pl.Expr:
    """Return the catalogue's action, for 154 the one that its message asks for."""
    asked = pl.col("message").str.extract(r"action changed from 0x\d+ .* to 0x(\d)")
    asked = asked.replace_strict(
        dict(RECOVERY_ACTIONS), default=None, return_dtype=pl.String
    )
    return pl.coalesce(asked, _catalogue("action"))


def _sxid_code() -> pl.Expr:
    return pl.col("message").str.extract(SXID, 2).cast(pl.Int64).cast(pl.String)


def _sxid_name() -> pl.Expr:
    """Return the words of a switch error, without severity and link."""
    words = pl.col("message").str.extract(SXID, 3)
    plain = words.str.replace(r"^(?:Non-)?[Ff]atal(?:, |$)", "")
    plain = plain.str.replace(r"^Link -?\d+ ", "").str.strip_chars()
    return pl.when(plain == "").then(None).otherwise(plain).fill_null(UNKNOWN_NAME)


def _sxid_severity() -> pl.Expr:
    words = pl.col("message").str.extract(SXID, 3)
    return (
        pl.when(words.str.contains(r"^Fatal"))
        .then(pl.lit("fatal"))
        .when(words.str.contains(r"^Non-fatal"))
        .then(pl.lit("warning"))
        .otherwise(pl.lit("error"))
    )


def _nic_code() -> pl.Expr:
    hot = pl.col("message").str.contains("High Temperature")
    return (
        pl.when(pl.col("kind") == "nic_power")
        .then(pl.lit("insufficient_power"))
        .when(hot)
        .then(pl.lit("high_temperature"))
        .otherwise(pl.lit("cable_error"))
    )


def _nic_name() -> pl.Expr:
    return _nic_code().replace_strict(
        {
            "insufficient_power": "slot gives the network card too little power",
            "high_temperature": "network cable or its module is too hot",
            "cable_error": "network cable or its module is at fault",
        },
        return_dtype=pl.String,
    )


def _nic_severity() -> pl.Expr:
    word = pl.col("message").str.extract(_NIC_MODULE)
    known = pl.when(word.is_in(["info", "warning", "error", "fatal"])).then(word)
    return known.fill_null("warning")
