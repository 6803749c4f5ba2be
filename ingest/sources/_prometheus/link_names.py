"""Metrics of ports and of NVLinks, by the names that exporters give them.

* node_exporter, InfiniBand: its counters of data are bytes, the words of the port
  having been multiplied by four (sysfs/class_infiniband.go of prometheus/procfs).
* node_exporter, ethtool: the names of the driver (mlx5 here) with `rx` and `tx` spelled
  out (collector/ethtool_linux.go); `_phy` counts at the port, RDMA included.
* node_exporter, network: what the kernel counts, without RDMA.
* dcgm-exporter, NVLink: of all links of a GPU, or of the link that the name tells. The
  total bandwidth (field 449) is left out: its unit and its direction differ by driver.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from ingest.sources._prometheus.kinds import INT64_BLANK, Field
from ingest.tables import LinkSamples

_Counter: Final = partial(Field, table=LinkSamples, kind="integer", blank=INT64_BLANK)

_TX: Final = LinkSamples.tx_bytes.name
_RX: Final = LinkSamples.rx_bytes.name
_DISCARDS: Final = LinkSamples.discards.name
_AGAIN: Final = LinkSamples.retransmits.name
_PAUSES: Final = LinkSamples.pauses.name
_MARKS: Final = LinkSamples.congestion_marks.name
_DOWNS: Final = LinkSamples.link_downs.name
_SYMBOLS: Final = LinkSamples.symbol_errors.name
_ERRORS: Final = LinkSamples.errors.name
_RECOVERIES: Final = LinkSamples.recoveries.name
_WAITS: Final = LinkSamples.transmit_waits.name
_ORDERS: Final = LinkSamples.out_of_sequence.name
_TIMEOUTS: Final = LinkSamples.ack_timeouts.name

_Row = tuple[str, str, int]


def _fields(prefix: str, rows: tuple[_Row, ...]) -> dict[str, Field]:
    """Return fields by name; several of a column and an order are parts of a sum."""
    places = [(column, order) for _, column, order in rows]
    return {
        prefix + name: _Counter(
            prefix + name,
            column=column,
            order=order,
            is_part=places.count((column, order)) > 1,
        )
        for name, column, order in rows
    }


_INFINIBAND: Final = _fields(
    "node_infiniband_",
    (
        ("port_data_transmitted_bytes", _TX, 0),
        ("port_data_received_bytes", _RX, 0),
        ("legacy_data_transmitted_bytes", _TX, 1),
        ("legacy_data_received_bytes", _RX, 1),
        ("port_discards_transmitted", _DISCARDS, 0),
        ("port_discards_received", _DISCARDS, 0),
        ("port_errors_received", _ERRORS, 0),
        ("port_transmit_wait", _WAITS, 0),
        ("link_downed", _DOWNS, 0),
        ("link_error_recovery", _RECOVERIES, 0),
        ("symbol_error", _SYMBOLS, 0),
        ("np_ecn_marked_roce_packets_received", _MARKS, 0),
        ("roce_adp_retransmits", _AGAIN, 0),
        ("out_of_sequence_packets_received", _ORDERS, 0),
        ("local_ack_timeout_errors", _TIMEOUTS, 0),
    ),
)

_ETHTOOL: Final = _fields(
    "node_ethtool_",
    (
        ("transmitted_bytes_phy", _TX, 0),
        ("received_bytes_phy", _RX, 0),
        ("transmitted_bytes", _TX, 1),
        ("received_bytes", _RX, 1),
        ("transmitted_discards_phy", _DISCARDS, 0),
        ("received_discards_phy", _DISCARDS, 0),
        ("received_out_of_buffer", _DISCARDS, 0),
        ("received_crc_errors_phy", _ERRORS, 0),
        ("received_symbol_err_phy", _SYMBOLS, 0),
        ("link_down_events_phy", _DOWNS, 0),
        ("received_ecn_mark", _MARKS, 0),
        ("received_global_pause", _PAUSES, 0),
        ("transmitted_global_pause", _PAUSES, 0),
        *((f"received_prio{n}_pause", _PAUSES, 0) for n in range(8)),
        *((f"transmitted_prio{n}_pause", _PAUSES, 0) for n in range(8)),
        ("received_pause_ctrl_phy", _PAUSES, 1),
        ("transmitted_pause_ctrl_phy", _PAUSES, 1),
    ),
)

_NETWORK: Final = _fields(
    "node_network_",
    (
        ("transmit_bytes", _TX, 2),
        ("receive_bytes", _RX, 2),
        ("transmit_drop", _DISCARDS, 2),
        ("receive_drop", _DISCARDS, 2),
        ("transmit_errs", _ERRORS, 2),
        ("receive_errs", _ERRORS, 2),
        ("carrier_down_changes", _DOWNS, 2),
    ),
)

_NVLINK: Final = _fields(
    "nvlink ",
    (
        ("TX_BYTES", _TX, 0),
        ("RX_BYTES", _RX, 0),
        ("CRC_FLIT_ERROR", _ERRORS, 0),
        ("CRC_DATA_ERROR", _ERRORS, 0),
        ("CRC", _ERRORS, 1),
        ("REPLAY_ERROR", _AGAIN, 0),
        ("REPLAY", _AGAIN, 1),
        ("RECOVERY_ERROR", _RECOVERIES, 0),
        ("RECOVERY", _RECOVERIES, 1),
        ("RECOVERY_EVENT", _RECOVERIES, 2),
        ("RX_SYMBOL_ERROR", _SYMBOLS, 0),
        ("RX_PACKET_DROPPED", _DISCARDS, 0),
    ),
)

#: Names of NVLink fields: until DCGM 4.5, later, and of exporter 1.x.
_NVLINK_NAMES: Final = {
    "DCGM_FI_DEV_NVLINK_COUNT_TX_BYTES": "TX_BYTES",
    "DCGM_FI_DEV_NVLINK_TX_BYTES": "TX_BYTES",
    "DCGM_FI_DEV_NVLINK_COUNT_RX_BYTES": "RX_BYTES",
    "DCGM_FI_DEV_NVLINK_RX_BYTES": "RX_BYTES",
    "DCGM_FI_DEV_NVLINK_COUNT_RX_SYMBOL_ERRORS": "RX_SYMBOL_ERROR",
    "DCGM_FI_DEV_NVLINK_RX_SYMBOL_ERROR": "RX_SYMBOL_ERROR",
    "DCGM_FI_DEV_NVLINK_COUNT_RX_BUFFER_OVERRUN_ERRORS": "RX_PACKET_DROPPED",
    "DCGM_FI_DEV_NVLINK_RX_PACKET_DROPPED": "RX_PACKET_DROPPED",
    "DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS": "RECOVERY_EVENT",
    "DCGM_FI_DEV_NVLINK_RECOVERY_EVENT": "RECOVERY_EVENT",
    "DCGM_FI_DEV_NVLINK_ERROR_DL_CRC": "CRC",
    "DCGM_FI_DEV_NVLINK_CRC_ERROR": "CRC",
    "DCGM_FI_DEV_NVLINK_ERROR_DL_REPLAY": "REPLAY",
    "DCGM_FI_DEV_NVLINK_REPLAY": "REPLAY",
    "DCGM_FI_DEV_NVLINK_ERROR_DL_RECOVERY": "RECOVERY",
    "DCGM_FI_DEV_NVLINK_RECOVERY": "RECOVERY",
    **{
        f"DCGM_FI_DEV_NVLINK_{name}_ERROR{count}": f"{name}_ERROR"
        for name in ("CRC_FLIT", "CRC_DATA", "REPLAY", "RECOVERY")
        for count in ("_COUNT", "")
    },
    "dcgm_nvlink_flit_crc_error_count": "CRC_FLIT_ERROR",
    "dcgm_nvlink_data_crc_error_count": "CRC_DATA_ERROR",
    "dcgm_nvlink_replay_error_count": "REPLAY_ERROR",
    "dcgm_nvlink_recovery_error_count": "RECOVERY_ERROR",
}

#: The one table of names; `_total` and the number of a link are no part of them.
LINK_FIELDS: Final[Mapping[str, Field]] = {
    **_INFINIBAND,
    **_ETHTOOL,
    **_NETWORK,
    **{name: _NVLINK[f"nvlink {field}"] for name, field in _NVLINK_NAMES.items()},
}

_LANE: Final = re.compile(
    r"(DCGM_FI_DEV_NVLINK_\w+_ERROR(?:_COUNT)?)_(?:L([0-9]+)(?:_TOTAL)?|TOTAL)(?:_total)?"
)
_TOTAL: Final = re.compile(r"(DCGM_FI_DEV_NVLINK_\w+?)_TOTAL(?:_total)?")


def lane_of(name: str) -> tuple[str | None, str]:
    """Return the link that a name tells (L3 is 3), and the name without it."""
    if match := _LANE.fullmatch(name) or _TOTAL.fullmatch(name):
        lane = match[2] if match.re is _LANE else None
        return lane, match[1]
    return None, name
