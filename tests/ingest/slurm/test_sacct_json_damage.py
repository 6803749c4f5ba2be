"""JSON of Slurm that is damaged, cut or long."""

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import _json_elements
from ingest.sources._json_elements import Elements
from ingest.tables import Jobs
from tests.examples import examples
from tests.ingest.readings import records, refused, repairs, rows
from tests.ingest.slurm.slurm_json import Json, job_of_sacct, read

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"job_id": 1, "name": }', [("entry 2", "json")]),
        ('{"job_id": NaN}', [("entry 2", "json")]),
        ('{"job_id": [1]}', [("entry 2", "type")]),
        ('{"job_id": 1}', [("entry 2", "state_missing")]),
        ('{"state": {"current": "FAILED"}}', [("entry 2", "job_id_missing")]),
        (
            '{"job_id": 1, "job_state": "FAILED", "nodes": "a[1-"}',
            [("entry 2", "node_list")],
        ),
        ("[" * 5_000 + "]" * 5_000, [("entry 2", "type")]),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, [("entry 2", "json")]),
    ],
)
def test_a_job_that_is_damaged_costs_itself(text: str, expected: object) -> None:
    whole = json.dumps(job_of_sacct())
    batches = read(f'{{"jobs": [{whole}, {text}, {whole}], "errors": []}}')
    assert len(rows(batches, Jobs)) == 2
    assert refused(batches) == expected


def test_a_document_that_was_cut_gives_what_it_has_whole() -> None:
    whole = json.dumps({"jobs": [job_of_sacct(), job_of_sacct()]})
    batches = read(whole[:-60])
    assert len(rows(batches, Jobs)) == 1
    assert refused(batches) == [("entry 2", "truncated")]
    batches = read(whole[:-1])
    assert len(rows(batches, Jobs)) == 2
    assert refused(batches) == [("end", "truncated")]


def test_brackets_and_quotes_in_strings_are_no_structure() -> None:
    batches = read({"jobs": [job_of_sacct(name='a "}]} \\" \\\\')], "errors": []})
    assert rows(batches, Jobs)[0]["job_name"] == 'a "}]} \\" \\\\'
    assert not refused(batches)


def test_bytes_that_are_not_text_are_replaced() -> None:
    text = json.dumps({"jobs": [job_of_sacct(name="caf?")]})
    batches = read(text.encode().replace(b"?", b"\xe9"))
    assert rows(batches, Jobs)[0]["job_name"] == "caf\ufffd"
    assert (repairs(batches), records(batches)) == (1, 1)


@settings(max_examples=examples(30))
@given(
    size=st.integers(1, 40),
    jobs=st.lists(
        st.dictionaries(
            st.text(max_size=3),
            st.recursive(
                st.none() | st.text(alphabet='a\\"{}[]é,', max_size=6),
                lambda inner: st.lists(inner, max_size=2),
                max_leaves=4,
            ),
            max_size=3,
        ),
        max_size=4,
    ),
)
def test_objects_are_the_same_whatever_is_read_at_a_time(
    size: int, jobs: list[Json]
) -> None:
    document = {"meta": {"jobs": [{"x": 1}]}, "jobs": jobs, "n": [1, [2]], "nodes": []}
    data = json.dumps(document, ensure_ascii=False).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_json_elements, "CHUNK_BYTES", size)
        found = list(Elements(io.BytesIO(data)))
    mine = [json.loads(one.data) for one in found if one.name == "jobs"]
    assert mine == jobs
    assert all(data[one.offset :].startswith(one.data) for one in found)


def test_a_job_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_json_elements, "ELEMENT_BYTES", 2_000)
    monkeypatch.setattr(_json_elements, "CHUNK_BYTES", 100)
    jobs = [job_of_sacct(), job_of_sacct(name="x" * 5_000), job_of_sacct()]
    batches = read({"jobs": jobs})
    assert len(rows(batches, Jobs)) == 2
    assert refused(batches) == [("entry 2", "record_too_long")]


@pytest.mark.parametrize("value", ["9" * 5_000, "-1", "x", 1e300, -1, 1.5, 1 << 70])
def test_numbers_that_are_none(value: object) -> None:
    batches = read({"jobs": [job_of_sacct(allocation_nodes=value, restart_cnt=value)]})
    assert len(rows(batches, Jobs)) + len(refused(batches)) == 1
    for row in rows(batches, Jobs):
        assert (row["node_count"], row["restart_count"]) == (None, 0)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize("where", ["{0}{1}", "{1}{0}", "{1}\n{0}\n{1}"])
@pytest.mark.parametrize(("junk", "count"), [("AAA", 1), (",,,", 1), (" \n", 0)])
def test_what_else_stands_around_documents_is_a_repair(
    chunk: int, where: str, junk: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_elements, "CHUNK_BYTES", chunk)
    whole = json.dumps({"jobs": [job_of_sacct()], "errors": []})
    batches = read(where.format(junk, whole))
    assert records(batches) == where.count("1")
    assert (refused(batches), repairs(batches)) == ([], count)
