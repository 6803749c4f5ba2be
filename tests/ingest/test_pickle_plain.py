"""Pickles of plain data: what is loaded, what is refused by name, and what runs."""

import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources._flight.pickle_plain import Plain, load_plain
from ingest.sources._flight.pickle_scan import Fault
from tests.examples import examples

PLAIN: dict[str, Any] = {
    "version": "2.9",
    "pg_config": {"0": {"name": "0", "ranks": "[0, 1]"}},
    "entries": [
        {
            "record_id": 7,
            "process_group": ("0", "default_pg"),
            "input_sizes": [[2, 3], []],
            "time_created_ns": 1_758_610_505_592_849_034,
            "duration_ms": 0.125,
            "retired": False,
            "is_p2p": True,
            "started": None,
        }
    ],
}


class Payload:
    """Makes a file when it is unpickled by anything that runs it."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.target}",)


def fault(data: bytes) -> Fault:
    found = load_plain(data)
    assert isinstance(found, Fault)
    return found


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_data_is_loaded(protocol: int) -> None:
    found = load_plain(pickle.dumps(PLAIN, protocol))
    assert isinstance(found, Plain)
    assert found.value == PLAIN
    assert not found.trailing


def test_bytes_after_the_end_are_told() -> None:
    found = load_plain(pickle.dumps(PLAIN, 2) + b"\0\0\0")
    assert isinstance(found, Plain)
    assert (found.value, found.trailing) == (PLAIN, 3)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_runs_code_is_refused_by_name(
    protocol: int, tmp_path: Path
) -> None:
    # GIVEN a pickle that makes a file, as any loader of it would see
    target = tmp_path / "made"
    data = pickle.dumps(Payload(target), protocol)
    pickle.loads(data)
    assert target.exists()
    target.unlink()

    # WHEN it is loaded as plain data, alone and inside a dump
    inside = pickle.dumps(PLAIN | {"entries": [Payload(target)]}, protocol)

    # THEN it is refused by the name of what it imports, and nothing has run
    for refused in (fault(data), fault(inside)):
        assert refused.rule == "pickle_global"
        assert refused.hint == f"refused global {os.name}.system"
    assert not target.exists()


SYSTEM = b"cos\nsystem\n"


@pytest.mark.parametrize(
    ("data", "rule", "hint"),
    [
        (SYSTEM + b"(Vtouch x\ntR.", "pickle_global", "refused global os.system"),
        (b"(Vtouch x\nios\nsystem\n.", "pickle_global", "refused global os.system"),
        (
            b"\x80\x02(" + SYSTEM + b"K\x01o.",
            "pickle_global",
            "refused global os.system",
        ),
        (
            b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93.",
            "pickle_global",
            "refused global os.system",
        ),
        # both names were put away before, and are fetched again
        (
            b"\x80\x04\x8c\x02os\x94\x8c\x06system\x940000h\x00h\x01\x93.",
            "pickle_global",
            "refused global os.system",
        ),
        (b"\x80\x02\x82\x07.", "pickle_global", "refused global of extension code 7"),
        (b"\x80\x02\x84\x07\0\0\0.", "pickle_global", "of extension code 7"),
        (b"\x80\x02Pelsewhere\n.", "pickle_global", "persistent id elsewhere"),
        (b"\x80\x02K\x01Q.", "pickle_global", "refused persistent id"),
        (b"\x80\x02K\x01)R.", "pickle_opcode", "refused REDUCE"),
        (b"\x80\x02K\x01}b.", "pickle_opcode", "refused BUILD"),
        (b"\x80\x02K\x01)\x81.", "pickle_opcode", "refused NEWOBJ"),
        (b"\x80\x04K\x01)}\x92.", "pickle_opcode", "refused NEWOBJ_EX"),
        (b"\x80\x02]2.", "pickle_opcode", "refused DUP"),
        (b"\x80\x05\x96\x01\0\0\0\0\0\0\0x.", "pickle_opcode", "refused BYTEARRAY8"),
    ],
)
def test_operations_that_plain_data_does_not_need(
    data: bytes, rule: str, hint: str
) -> None:
    found = fault(data)
    assert found.rule == rule
    assert hint in found.hint


def test_the_name_of_an_import_wins_over_what_came_before_it() -> None:
    # a text of protocol 0 is refused, too, but it is not what the pickle is for
    assert fault(b"(S'touch x'\nios\nsystem\n.").hint == "refused global os.system"


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02\x8b\xff\xff\xff\x7f.",  # LONG4 of 2 GiB
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\0a.",  # BINUNICODE8 of 2**56 B
        b"\x80\x02X\xff\xff\xff\x7fabc.",  # BINUNICODE of 2 GiB
        b"\x80\x02]r\xff\xff\xff\x7f.",  # memo at 2**31: eight bytes for each place
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f].",  # FRAME of 2**63 B
    ],
)
def test_lengths_beyond_the_file_take_no_memory(data: bytes) -> None:
    tracemalloc.start()
    fault(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_numbers_have_64_bits() -> None:
    assert isinstance(load_plain(pickle.dumps(2**63 - 1, 2)), Plain)
    assert fault(pickle.dumps(2**70, 2)).hint.startswith("refused LONG1")


def test_a_nest_of_tuples_is_no_key() -> None:
    # t1 = (t0, t0), t2 = (t1, t1) ...: hashing the last takes two to its depth
    data = b"\x80\x02}K\x01q\0"
    data += b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60))
    found = fault(data + b"K\x01s.")
    assert found.hint == "refused SETITEM: a key that is a tuple"


def test_a_tuple_may_be_used_twice() -> None:
    pair = ("0", "default_pg")
    found = load_plain(pickle.dumps({"left": pair, "right": pair}, 2))
    assert isinstance(found, Plain)
    assert found.value == {"left": pair, "right": pair}


@pytest.mark.parametrize("key", [1, None, 0.5, ("a",)])
def test_keys_are_texts(key: object) -> None:
    assert "a key that is a" in fault(pickle.dumps({"b": 1, key: 2}, 2)).hint


def test_a_cut_pickle_is_never_read() -> None:
    data = pickle.dumps(PLAIN, 2)
    cuts = {fault(data[:length]).rule for length in range(len(data))}
    assert cuts == {"truncated"}


@settings(max_examples=examples(200))
@given(st.binary(max_size=200))
def test_any_bytes_are_loaded_or_refused(data: bytes) -> None:
    assert isinstance(load_plain(b"\x80\x02" + data), Plain | Fault)


@settings(max_examples=examples(200))
@given(
    st.sampled_from([2, 4]),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6),
)
def test_changed_bytes_are_loaded_or_refused(
    protocol: int, changes: list[tuple[int, int]]
) -> None:
    data = bytearray(pickle.dumps(PLAIN, protocol))
    for at, byte in changes:
        data[at % len(data)] = byte
    assert isinstance(load_plain(bytes(data)), Plain | Fault)
