"""Documents of nvidia-smi one after the other: cut short, damaged, hostile."""

import io
from functools import partial
from pathlib import Path

import pytest

from ingest.sources import Head, nvidia_smi_xml
from ingest.sources._lines import blocks
from tests.ingest.readings import held, reading, refused
from tests.ingest.smi_documents import (
    PROLOG,
    document,
    drawing,
    gpu,
    read,
    samples,
    watts,
)


@pytest.mark.parametrize(
    "prolog", [PROLOG, PROLOG.split("\n", maxsplit=1)[0] + "\n", ""]
)
@pytest.mark.parametrize("size", [64, 1 << 20])
def test_documents_follow_each_other(
    prolog: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvidia_smi_xml, "blocks", partial(blocks, size=size))
    texts = [document(drawing(n), drawing(10 + n), prolog=prolog) for n in range(3)]
    batches = read("".join(texts))
    assert watts(batches) == [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]
    assert refused(batches) == []


def test_the_last_document_may_be_cut_short() -> None:
    whole = document(drawing(1))
    batches = read(whole + document(drawing(2), drawing(3))[:-60])
    assert watts(batches) == [1.0, 2.0]
    assert [rule for _, rule in refused(batches)] == ["truncated"]
    (refusal,) = [one for batch in batches for one in batch.refused]
    assert refusal.place == "line 16"
    assert "nvidia-smi was stopped" in str(refusal.hint)


def test_a_document_that_was_stopped_and_one_after_it() -> None:
    cut = document(drawing(1), drawing(2)).partition("<power_draw>2")[0]
    batches = read(cut + "\n" + document(drawing(3)))
    assert watts(batches) == [1.0, 3.0]
    assert [rule for _, rule in refused(batches)] == ["truncated"]


def test_what_is_between_documents() -> None:
    batches = read(
        "Failed to initialize NVML: Unknown Error\n"
        + document(drawing(1))
        + "Failed to initialize NVML: Unknown Error\n"
        + document(drawing(2))
    )
    assert watts(batches) == [1.0, 2.0]
    assert refused(batches) == [("line 10", "xml")]


def test_a_damaged_document_costs_itself() -> None:
    batches = read(
        document(drawing(1))
        + document(drawing(2), "<gpu><</gpu>", drawing(3))
        + document(drawing(4))
    )
    assert watts(batches) == [1.0, 2.0, 4.0]
    assert [rule for _, rule in refused(batches)] == ["xml"]


LAUGHS = (
    '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log [\n<!ENTITY a "ha">\n'
    '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">\n]>\n'
)


@pytest.mark.parametrize(
    "prolog",
    [
        LAUGHS,
        (
            '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log [\n'
            '<!ENTITY a SYSTEM "file:///etc/hostname">\n]>\n'
        ),
        (
            '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log [\n'
            '<!ENTITY % a SYSTEM "http://localhost/x">\n%a;\n]>\n'
        ),
    ],
)
def test_entities_are_refused(prolog: str) -> None:
    batches = read(document(gpu("<uuid>&a;</uuid>"), prolog=prolog))
    assert samples(batches) == []
    assert [rule for _, rule in refused(batches)] == ["xml_entity"]


def test_a_dtd_may_be_inside() -> None:
    prolog = (
        '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log [\n'
        "<!ELEMENT nvidia_smi_log (timestamp, gpu*)>\n<!ELEMENT gpu ANY>\n]>\n"
    )
    assert watts(read(document(drawing(1), prolog=prolog))) == [1.0]


def test_depth_is_limited() -> None:
    batches = read(document(gpu("<a>" * 100 + "</a>" * 100)))
    assert [rule for _, rule in refused(batches)] == ["too_large"]


DATA = "data/power/influxdata+telegraf/plugins/inputs/nvidia_smi/testdata"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a10g.xml", (25.58, None, 300.0, 17.0, 210.0, 0x1)),
        ("rtx-3080-v12.xml", (22.78, None, 336.0, 31.0, 210.0, 0x1)),
        ("rtx-4000-sff-ada-v13.xml", (8.81, 8.44, 70.0, 38.0, 210.0, 0x1)),
    ],
)
def test_published_documents(
    shared: Path, name: str, expected: tuple[float, ...]
) -> None:
    data = (shared / DATA / name).read_bytes()
    assert nvidia_smi_xml.recognizes(Head(name, data[:65_536]))
    batches = held(nvidia_smi_xml.read(io.BytesIO(data * 2), reading()))
    found = samples(batches)
    columns = (
        "power_average_w",
        "power_instant_w",
        "power_limit_w",
        "temperature_c",
        "sm_clock_mhz",
        "throttle_reasons",
    )
    values = [tuple(row[column] for column in columns) for row in found]
    assert values == [expected, expected]
    assert refused(batches) == []
    if "v13" in name:
        assert found[0]["throttle_power_ns"] == 4_251_825_415_000
