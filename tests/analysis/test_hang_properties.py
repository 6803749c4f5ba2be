"""Hangs of any rows: nobody is named twice, never more than four, and nothing fails."""

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.hangs import Hangs, HangSuspects, HangWaits
from ingest.tables import Collectives, GroupStatus, Table
from tests.analysis.hanging import Read, find, whole
from tests.examples import examples

#: A search takes some tenths of a second, and each test makes dozens.
pytestmark = pytest.mark.slow

START = 1_772_445_600 * 10**9
GROUPS = ("0:[0,1,2,3]", "1:[0,1]", "2:", "3:[0,0,x]", "4:[3,2]:x9", "\N{SNOWMAN}")

numbers = st.sampled_from((None, -1, 0, 1, 2, 3, 2**63 - 1))
times = st.sampled_from((None, 0, START, START + 400 * 10**9, 2**62))

entries = st.fixed_dictionaries(
    {
        "rank": st.integers(0, 5),
        "group_id": st.sampled_from(GROUPS),
        "kind": st.sampled_from(("allreduce", "alltoall", "send", "recv", "coalesced")),
        "is_p2p": st.booleans(),
        "peer_rank": st.sampled_from((None, 0, 1, 5)),
        "sequence": numbers,
        "p2p_sequence": numbers,
        "bytes_total": st.sampled_from((None, 8, 16)),
        "dtype": st.sampled_from((None, "Float", "Half")),
        "enqueue_ns": times,
        "start_ns": times,
        "end_ns": times,
        "state": st.sampled_from(("scheduled", "started", "completed")),
        "parallel_kind": st.sampled_from((None, "pp", "tp")),
    }
)
statuses = st.fixed_dictionaries(
    {
        "rank": st.integers(0, 5),
        "group_id": st.sampled_from(GROUPS),
        "time_ns": times,
        "last_enqueued": numbers,
        "last_completed": numbers,
    }
)


def rows(seen: list[dict[str, Any]], told: list[dict[str, Any]]) -> Read:
    of_entries = {"run_id": "run", "match_method": "order", "time_basis": "cpu"}
    found: Read = {}
    for table, some, more, key in (
        (Collectives, seen, of_entries, "trace_id"),
        (GroupStatus, told, {"run_id": "run"}, "dump_id"),
    ):
        named = [
            row | more | {key: f"dump-{row['rank']}"} | place(table, number)
            for number, row in enumerate(some)
        ]
        schema = {
            name: table.create_empty().schema[name] for name in (named or [{}])[0]
        }
        found[table] = whole(
            table, [pl.DataFrame(named, schema=schema)] if named else []
        )
    return found


def place(table: type[Table], number: int) -> dict[str, int]:
    """Return the place of an entry in its dump, that no other has."""
    return {"event": number} if table is Collectives else {}


@given(st.lists(entries, max_size=12), st.lists(statuses, max_size=8))
@settings(max_examples=examples(30))
def test_any_rows_give_whole_answers(
    seen: list[dict[str, Any]], told: list[dict[str, Any]]
) -> None:
    found = find(rows(seen, told))
    suspects, hangs = found[HangSuspects], found[Hangs]
    named = suspects.filter("is_candidate").group_by("hang_id").len()
    assert named.is_empty() or named["len"].max() in {1, 2, 3, 4}
    assert suspects.select("hang_id", "rank").is_unique().all()
    assert set(suspects["hang_id"]) <= set(hangs["hang_id"])
    assert set(found[HangWaits]["hang_id"]) <= set(hangs["hang_id"])
    # whoever is named holds up another, or is like one who does
    held = found[HangWaits].filter(role="awaited", is_candidate=True)
    alike = pl.col("rule").is_in(["asked_less", "no_dump_either"])
    ranks = suspects.filter(pl.col("is_candidate") & ~alike).select("hang_id", "rank")
    assert ranks.join(held, on=("hang_id", "rank"), how="anti").is_empty()


def mixed(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=seed)


@given(st.lists(entries, max_size=10), st.integers(0, 99))
@settings(max_examples=examples(15))
def test_the_order_of_rows_changes_nothing(
    seen: list[dict[str, Any]], seed: int
) -> None:
    read = rows(seen, [])
    shuffled = read | {Collectives: mixed(read[Collectives], seed)}
    first, second = find(read), find(shuffled)
    for table, frame in first.items():
        assert frame.equals(second[table])
