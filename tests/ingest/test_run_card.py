"""Run cards: what they may say, and one line for what they may not."""

from pathlib import Path

import pytest

from ingest import run_card
from ingest.errors import SettingError
from ingest.sources import Head
from ingest.sources.run_card import SOURCE

FULL = b"""
run_id = "llama" # a comment
cluster = "pod-a"
zone = "Europe/Berlin"
billing = "reserved"
reserved_gpus = 16
jobs = ["8812"]
[hardware]
gpu = "H100-SXM"
gpus = 16
[layout]
tp = 2
dp = 8
[training]
tokens_per_step = 1_000
[price]
usd_per_gpu_hour = 2.0
"""


def test_full_card_is_read() -> None:
    card = run_card.parse(FULL, "run.toml")
    assert card.run_id == "llama"
    assert card.layout is not None
    assert card.layout.ranks == 16
    assert str(card.tzinfo) == "Europe/Berlin"
    assert card.jobs == ("8812",)


def test_empty_card_says_nothing() -> None:
    card = run_card.parse(b"", "run.toml")
    assert (card.run_id, card.layout, card.tzinfo) == (None, None, None)
    assert card.billing == "allocated"


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 50_000, "not toml"])
def test_what_cannot_be_read_as_toml_is_no_card(value: str) -> None:
    data = f"a = {value}".encode()
    assert not SOURCE.recognizes(Head("notes.txt", data))


@pytest.mark.parametrize("name", ["a\\u0000b", "a" * 300])
def test_a_map_that_no_file_can_be_named_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.toml"
    card = run_card.parse(f'[hosts]\nmap = "{name}"'.encode(), path)
    with pytest.raises(SettingError, match="put the map beside the card"):
        run_card.map_path(card, path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("run_id = 3", "$.run_id"),
        ('run_id = ""', "$.run_id"),
        ("[hardware]\ncolour = 'red'", "colour"),
        ("zone = 'Mars'", "Mars"),
        ("[layout]\ntp = 0", "$.layout.tp"),
        ("[layout]\norder = ['tp', 'tp', 'pp', 'dp']", "each of tp, cp, pp and dp"),
        ("[hardware]\ngpus = 8\n[layout]\ntp = 16", "needs 16 ranks, but"),
        ("[price]\nusd_per_gpu_hour = -1", "$.price.usd_per_gpu_hour"),
        ("billing = 'free'", "$.billing"),
        ("year = 99999", "$.year"),
        ("not toml", "not a run card"),
        (f"year = {'9' * 5_000}", "not a run card"),
        (f"year = {'[' * 50_000}", "not a run card"),
        ("[price]\nusd_per_gpu_hour = inf", "$.price.usd_per_gpu_hour"),
        ("[price]\nusd_per_gpu_hour = nan", "$.price.usd_per_gpu_hour"),
        (f"[price]\nusd_per_gpu_hour = {'9' * 400}", "run.toml"),
        ("[price]\npue = inf", "$.price.pue"),
        (
            "[price]\nmode = 'owned'\ncapex_usd_per_gpu_hour = 1e308",
            "<= 1000000.0 - at `$.price.capex_usd_per_gpu_hour`",
        ),
        (
            "[checkpoints]\ninterval_s = 9.2e9",
            "<= 31622400.0 - at `$.checkpoints.interval_s`",
        ),
        ("[checkpoints]\nstall_s = 1.7e308", "$.checkpoints.stall_s"),
        ("[checkpoints]\nbytes = 1.7e308", "<= 1e+18 - at `$.checkpoints.bytes`"),
        ("[checkpoints]\nstore_gbs = 1e-300", ">= 1e-06 - at"),
        ("[reliability]\nper_1000_node_days = 5e-324", "$.reliability.per_1000_node"),
        ("[reliability]\nobserved_days = 5e-324", "$.reliability.observed_days"),
        ("[reliability]\nrepair_h = 1.7e308", "$.reliability.repair_h"),
        ("[hardware]\npeak_tflops = inf", "$.hardware.peak_tflops"),
        (f"[hardware]\ngpus = {2**63}", "$.hardware.gpus"),
        (f"[layout]\ntp = {2**70}", "$.layout.tp"),
        (
            "[training]\ntokens_per_step = 1000\nsequence_length = 300\n[layout]",
            "no multiple of layout.dp x training.sequence_length, 1 x 300",
        ),
        (
            "[training]\nlayers = 4\n[layout]\npp = 4\nvpp = 2",
            "layout.pp x layout.vpp is 8, more than training.layers, 4",
        ),
        (
            "hardware.gpus = 64\nfabric = {gpus_per_rack=8, racks_per_pod=4, pods=1}",
            "fabric holds 32 GPUs in 4 racks, but hardware.gpus is 64",
        ),
        (
            "[hardware]\nsms = 132\ncommunication_sms = 133",
            "hardware.communication_sms is 133, more than hardware.sms, 132",
        ),
        (
            "[hardware]\ngpus = 8\n[checkpoints]\nwriters = 9",
            "checkpoints.writers is 9, more than hardware.gpus, 8",
        ),
        (
            "[power]\nband_low_hz = 20\nband_high_hz = 0.1",
            "power.band_low_hz is 20, more than power.band_high_hz, 0.1",
        ),
    ],
)
def test_bad_card_is_one_line(text: str, says: str) -> None:
    with pytest.raises(SettingError) as error:
        run_card.parse(text.encode(), "run.toml")
    message = str(error.value)
    assert message.startswith("run.toml: ")
    assert says in message
    assert "\n" not in message


def test_bytes_that_are_no_text_are_one_line() -> None:
    with pytest.raises(SettingError, match=r"run\.toml: not a run card"):
        run_card.parse(b"\xff\xfe\x00", "run.toml")


def test_map_must_lie_beside_the_card(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.csv").write_text("rank,host\n")
    path = tmp_path / "inside" / "run.toml"
    for name in ("../outside.csv", str(tmp_path / "outside.csv"), "missing.csv"):
        card = run_card.parse(f'[hosts]\nmap = "{name}"'.encode(), path)
        with pytest.raises(SettingError, match="put the map beside the card"):
            run_card.map_path(card, path)


def test_map_beside_the_card_is_found(tmp_path: Path) -> None:
    (tmp_path / "hosts.csv").write_text("rank,host\n")
    path = tmp_path / "run.toml"
    card = run_card.parse(b'[hosts]\nmap = "hosts.csv"', path)
    assert run_card.map_path(card, path) == (tmp_path / "hosts.csv").resolve()
