"""The Xid catalogue: closed words, and the codes that the field asks about."""

from pathlib import Path
from typing import get_args

import pytest

from ingest import xids
from ingest.xids import RECOVERY_ACTIONS, XIDS, Xid


@pytest.mark.parametrize(("code", "xid"), XIDS.items(), ids=map(str, XIDS))
def test_words_are_of_the_closed_lists(code: int, xid: Xid) -> None:
    assert code > 0
    assert xid.name
    assert xid.component in get_args(xids.Component)
    assert xid.severity in get_args(xids.Severity)
    assert xid.action in get_args(xids.Action)
    assert xid.role in get_args(xids.Role)


def test_users_and_cascades_are_told_apart() -> None:
    roles = {code: XIDS[code].role for code in (13, 31, 43, 45, 48, 79, 95, 119)}
    assert roles == {
        13: "user",
        31: "user",
        43: "user",
        45: "cascade",
        48: "hardware",
        79: "hardware",
        95: "hardware",
        119: "hardware",
    }


# Immediate actions of NVIDIA's public catalogue of October 2025.
@pytest.mark.parametrize(
    ("codes", "action"),
    [
        ((46, 62, 64, 95, 109, 119, 120, 136, 140, 143, 155, 156, 158), "reset_gpu"),
        ((13, 31, 94), "restart_application"),
        ((43, 63, 92), "none"),
        ((74, *range(144, 151)), "inspect_nvlink"),
        ((79,), "reboot_node"),
        ((45, 154), "follow_other_code"),
    ],
)
def test_actions_of_the_public_catalogue(codes: tuple[int, ...], action: str) -> None:
    assert {XIDS[code].action for code in codes} == {action}


def test_catalogue_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        XIDS[1] = XIDS[79]  # type: ignore[index]


def test_recovery_actions_are_known_words() -> None:
    assert set(RECOVERY_ACTIONS.values()) <= set(get_args(xids.Action))


def test_every_code_is_in_the_public_catalogue(shared: Path) -> None:
    table = shared / "data/failures/leptonai+gpud/xid_catalog.tsv"
    public = {int(line.split("\t")[0]) for line in table.read_text().splitlines()[1:]}
    assert set(XIDS) <= public
