"""Ports, NICs and NVLinks in text of exporters: names, units, hosts."""

import io
from collections.abc import Iterable
from typing import Any

import pytest

from ingest.sources import Batch, prometheus_text
from ingest.sources._prometheus.link_names import LINK_FIELDS
from ingest.tables import LinkSamples, PowerSamples
from tests.ingest.readings import held, reading, records, refused, repairs, rows

#: When the file was written. [ns]
WRITTEN_NS = 1_764_408_600_123_456_789

UNAME = 'node_uname_info{nodename="ember-07",release="6.8.0"} 1'
IB = "node_infiniband_"


def read(*lines: str, name: str = "any") -> list[Batch]:
    data = "".join(f"{line}\n" for line in lines).encode()
    told = reading(modified_ns=WRITTEN_NS, name=name)
    return held(prometheus_text.read(io.BytesIO(data), told))


def links(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    return rows(batches, LinkSamples)


def ib(metric: str, value: object, device: str = "mlx5_0") -> str:
    return f'{IB}{metric}{{device="{device}",port="1"}} {value}'


def test_a_port_is_one_row() -> None:
    batches = read(
        ib("port_data_transmitted_bytes_total", "2.2031403016e+10"),
        ib("port_data_received_bytes_total", 9_007_199_254_740_993),
        ib("port_discards_received_total", 4),
        ib("port_discards_transmitted_total", 38),
        ib("port_transmit_wait_total", 1804),
        ib("state_id", 4),
        UNAME,
    )
    (row,) = links(batches)
    assert (row["host"], row["port"], row["cluster"]) == ("ember-07", "mlx5_0/1", "pod")
    assert row["tx_bytes"] == 22_031_403_016
    assert row["rx_bytes"] == 9_007_199_254_740_993
    assert (row["discards"], row["transmit_waits"]) == (4 + 38, 1804)
    assert (row["pauses"], row["series"]) == (None, None)
    assert (row["time_ns"], row["time_quality"]) == (WRITTEN_NS, "file_time")
    assert row["place"] == "line 1"
    assert (records(batches), refused(batches)) == (7, [])


@pytest.mark.parametrize(
    ("metric", "labels", "port", "column"),
    [
        (f"{IB}legacy_data_transmitted_bytes_total", "", "m/1", "tx_bytes"),
        (f"{IB}port_errors_received_total", "", "m/1", "errors"),
        (f"{IB}link_downed_total", "", "m/1", "link_downs"),
        (f"{IB}link_error_recovery_total", "", "m/1", "recoveries"),
        (f"{IB}symbol_error_total", "", "m/1", "symbol_errors"),
        (f"{IB}roce_adp_retransmits_total", "", "m/1", "retransmits"),
        (f"{IB}out_of_sequence_packets_received_total", "", "m/1", "out_of_sequence"),
        (f"{IB}local_ack_timeout_errors_total", "", "m/1", "ack_timeouts"),
        (
            f"{IB}np_ecn_marked_roce_packets_received_total",
            "",
            "m/1",
            "congestion_marks",
        ),
        ("node_ethtool_received_ecn_mark", "", "m", "congestion_marks"),
        ("node_ethtool_received_bytes_total", "", "m", "rx_bytes"),
        ("node_ethtool_received_prio3_pause", "", "m", "pauses"),
        ("node_ethtool_link_down_events_phy", "", "m", "link_downs"),
        ("node_network_transmit_bytes_total", "", "m", "tx_bytes"),
        ("node_network_receive_errs_total", "", "m", "errors"),
        ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "", "G", "retransmits"),
        ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_TOTAL", "", "G", "retransmits"),
        ("dcgm_nvlink_replay_error_count_total", "", "G", "retransmits"),
        ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L3", "", "G/3", "errors"),
        ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_L17_TOTAL", "", "G/17", "errors"),
        ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "", "G", "recoveries"),
        ("DCGM_FI_DEV_NVLINK_COUNT_TX_BYTES", "", "G", "tx_bytes"),
        ("DCGM_FI_DEV_NVLINK_RX_BYTES_TOTAL", "", "G", "rx_bytes"),
        ("DCGM_FI_DEV_NVLINK_TX_BYTES_TOTAL", 'nvlink="5",', "G/5", "tx_bytes"),
        ("DCGM_FI_DEV_NVLINK_ERROR_DL_REPLAY", "", "G", "retransmits"),
    ],
)
def test_counters_of_links(metric: str, labels: str, port: str, column: str) -> None:
    named = f'{{{labels}device="m",port="1",gpu_uuid="GPU-1",Hostname="a"}}'
    (row,) = links(read(f"{metric}{named} 7"))
    assert row["port"] == port.replace("G", "nvlink:GPU-1")
    assert {name for name, value in row.items() if value == 7} == {column}


def test_every_name_of_a_counter_is_read() -> None:
    names = [name for metric in LINK_FIELDS for name in (metric, f"{metric}_total")]
    lines = [
        f'{name}{{device="m{n}",port="1",UUID="G{n}",Hostname="a"}} 7'
        for n, name in enumerate(names)
    ]
    assert len(links(read(*lines))) == len(names) > 100


def test_the_total_nvlink_bandwidth_has_no_unit_and_is_left_out() -> None:
    batches = read('DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{UUID="G",Hostname="a"} 7')
    assert (links(batches), refused(batches), records(batches)) == ([], [], 1)


def test_of_a_nic_the_counters_at_the_port_go_first() -> None:
    nic = '{device="ens3f0"}'
    batches = read(
        f"node_ethtool_received_bytes_phy{nic} 900",
        f"node_ethtool_received_bytes_total{nic} 300",
        f"node_network_receive_bytes_total{nic} 200",
        f"node_ethtool_received_prio3_pause{nic} 5",
        f"node_ethtool_transmitted_prio3_pause{nic} 2",
        f"node_ethtool_received_pause_ctrl_phy{nic} 100",
        f"node_network_transmit_drop_total{nic} 3",
        UNAME,
    )
    (row,) = links(batches)
    assert (row["rx_bytes"], row["pauses"], row["discards"]) == (900, 7, 3)
    assert repairs(batches) == 0


def test_virtual_interfaces_are_no_ports() -> None:
    devices = ("lo", "veth9ab3", "docker0", "br-12", "cali7", "cilium_host", "eth0")
    lines = [f'node_network_receive_bytes_total{{device="{d}"}} 1' for d in devices]
    batches = read(*lines, UNAME)
    assert [row["port"] for row in links(batches)] == ["eth0"]
    assert records(batches) == 8


def test_blanks_of_ports_make_no_rows() -> None:
    metric = "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"
    lines = [
        f'{metric}{{UUID="G{n}",Hostname="a"}} {value}'
        for n, value in enumerate(("9223372036854775794", "NaN", "0"))
    ]
    assert [row["port"] for row in links(read(*lines))] == ["nvlink:G2"]


@pytest.mark.parametrize(
    ("labels", "name", "host"),
    [
        ('Hostname="a",instance="10.0.0.1:9400"', "any", "a"),
        ('node="k8s-a",instance="10.0.0.1:9100"', "any", "k8s-a"),
        ('instance="node-9.example:9100"', "any", "node-9.example"),
        ('instance="10.0.0.1:9100"', "any", "10.0.0.1"),
        ('instance="[fd00::1]:9100"', "any", "fd00::1"),
        ("", "node-exporter-node-3.prom", "node-3"),
        ("", "node-3.node_exporter.metrics", "node-3"),
    ],
)
def test_labels_and_names_that_tell_the_host(labels: str, name: str, host: str) -> None:
    line = f'{IB}link_downed_total{{device="m",port="1",{labels}}} 0'
    assert [row["host"] for row in links(read(line, name=name))] == [host]


def test_the_uname_of_an_address_names_its_host() -> None:
    labels = 'device="m",port="1",instance="10.0.0.{}:9100"'
    batches = read(
        *(f"{IB}link_downed_total{{{labels.format(n)}}} {n}" for n in (1, 2)),
        'node_uname_info{nodename="ember-07",instance="10.0.0.2:9100"} 1',
    )
    found = {row["host"]: row["link_downs"] for row in links(batches)}
    assert found == {"10.0.0.1": 1, "ember-07": 2}


def test_a_port_of_no_host_is_refused() -> None:
    batches = read(ib("link_downed_total", 0), ib("link_downed_total", 0, device="b"))
    assert links(batches) == []
    assert refused(batches) == [
        ("line 1", "host|required"),
        ("line 2", "host|required"),
    ]
    assert "node-exporter-<host>.prom" in str(batches[-1].refused[0].hint)


def test_a_gpu_of_an_address_has_no_host() -> None:
    (row,) = rows(
        read('DCGM_FI_DEV_POWER_USAGE{UUID="G",instance="10.0.0.1:9400"} 5'),
        PowerSamples,
    )
    assert (row["host"], row["gpu_uuid"]) == (None, "G")
