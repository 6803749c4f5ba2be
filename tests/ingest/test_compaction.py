"""Many small parts become few, and nothing that a lake shows changes."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest import _merging
from ingest.compaction import Merge, Sizes, merge, merges
from ingest.identity import identity_of
from ingest.lake import open_writer, snapshot
from ingest.manifest import Manifest, Part
from ingest.tables import TABLES, StepTimings, TrainingMetrics
from tests.ingest.tiny import (
    DAY,
    assert_accounted,
    assert_same,
    candidate,
    content,
    ingest,
    losses,
    put,
)

pytestmark = pytest.mark.thorough

#: Parts of 1,000 rows, sorted 300 at a time.
SMALL = Sizes(part=1_000, window=300)


def compact(root: Path, sizes: Sizes = SMALL, grace_s: float = 0.0) -> list[Merge]:
    done = []
    with open_writer(root, grace_s=grace_s) as writer:
        for one in merges(root, TABLES, sizes):
            merge(writer, one, sizes)
            done.append(one)
    return done


def ranks(root: Path, folder: Path, count: int = 20, steps: int = 130) -> None:
    """A file for each rank with every step of two days, each file a commit."""
    files = [
        put(
            folder,
            f"rank-{rank}",
            [f"s {step} {rank} {step * 2 * DAY // steps} 5" for step in range(steps)],
        )
        for rank in range(count)
    ]
    ingest(root, *([candidate(file)] for file in files))


def parts_of(root: Path, table: type[StepTimings]) -> list[Part]:
    return list(snapshot(root).manifest.of(table.sql_name()))


def test_overlapping_parts_become_few_sorted_ones(root: Path, tmp_path: Path) -> None:
    # GIVEN 20 ranks, each with a part for each of two days: 1,300 rows a day
    ranks(root, tmp_path)
    before = content(root)
    assert len(parts_of(root, StepTimings)) == 40
    # WHEN they are merged
    compact(root)
    # THEN a day is two parts of 650 rows, one behind the other in the order of the key
    assert_same(content(root), before)
    assert_accounted(root)
    parts = parts_of(root, StepTimings)
    assert [part.rows for part in parts] == [650] * 4
    for day in ("1970-01-01", "1970-01-02"):
        one, other = (part for part in parts if part.day == day)
        assert one.bounds("step")[1] <= other.bounds("step")[0]
    for part in parts:
        rows = pl.read_parquet(root / part.path, hive_partitioning=False)
        assert rows.equals(rows.sort(StepTimings.key))
        assert rows["file_id"].n_unique() == len(part.file_ids) == 20
        assert len(part.key_min) > 2


def test_what_is_compact_stays_as_it_is(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path)
    assert {one.table.sql_name() for one in compact(root)} == {
        "step_timings",
        "ingested_files",
    }
    before = snapshot(root).manifest
    assert compact(root) == []
    assert snapshot(root).manifest == before


def test_identities_stay_and_no_result_is_computed_anew(
    root: Path, tmp_path: Path
) -> None:
    ranks(root, tmp_path)
    before = {t: identity_of(snapshot(root).parts(t)) for t in TABLES}
    compact(root)
    assert {t: identity_of(snapshot(root).parts(t)) for t in TABLES} == before
    # AND a file that leaves one of the merged parts changes it
    put(tmp_path, "rank-1", ["s 1 1 5 5"])
    put(tmp_path, "more", ["s 1 99 5 5"])
    ingest(root, [candidate(tmp_path / "more")])
    assert identity_of(snapshot(root).parts(StepTimings)) != before[StepTimings]


def test_rows_that_lost_come_back_after_a_merge(root: Path, tmp_path: Path) -> None:
    # GIVEN step 1 in three files, the last of which wins, and many parts
    old = [candidate(put(tmp_path, f"m{i}", [f"m 1 {i} {i}.5"])) for i in range(3)]
    ingest(root, *([one] for one in old))
    assert losses(root) == {1: 2.5}
    duplicates = list(snapshot(root).manifest.of("training_metrics", "duplicate"))
    assert len(duplicates) == 2
    # WHEN the parts are merged and the winner's file is replaced by one without it
    compact(root)
    assert len(list(snapshot(root).manifest.of("training_metrics", "duplicate"))) == 1
    new = put(tmp_path, "n", ["m 7 9 7"])
    ingest(root, [candidate(new, supersedes=[old[2].reading.file_id])])
    # THEN the next best row is shown
    assert losses(root) == {1: 1.5, 7: 7.0}
    assert_accounted(root)


def test_a_file_that_grew_leaves_merged_parts(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path)
    compact(root)
    old = candidate(tmp_path / "rank-3")
    longer = put(tmp_path, "rank-3", ["s 1 3 5 5", f"s 2 3 {DAY} 5"])
    ingest(root, [candidate(longer, supersedes=[old.reading.file_id])])
    rows = content(root)["step_timings"].filter(pl.col("rank") == 3)
    assert rows["step"].to_list() == [1, 2]
    assert_accounted(root)


def test_readers_of_old_parts_are_not_disturbed(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path, 5)
    reader = snapshot(root)
    before = reader.scan(StepTimings).collect()
    compact(root, grace_s=3600)
    compact(root, grace_s=3600)
    assert reader.scan(StepTimings).collect().equals(before)
    # AND after their grace time they are gone
    with open_writer(root, grace_s=0):
        pass
    assert len(list((root / "step_timings").rglob("*.parquet"))) == 2


def test_old_schemas_are_written_anew(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path, 3)
    for part in parts_of(root, StepTimings)[:2]:
        path = root / part.path
        pl.read_parquet(path, hive_partitioning=False).drop("tokens").write_parquet(
            path
        )
        older = Part(
            **{
                **{n: getattr(part, n) for n in part.__dataclass_fields__},
                "bytes": path.stat().st_size,
                "fingerprint": "older",
            }
        )
        with open_writer(root) as writer, writer.drafting() as draft:
            draft.drop(part)
            draft.add([older])
    before = content(root)
    compact(root)
    assert_same(content(root), before)
    assert len({part.fingerprint for part in parts_of(root, StepTimings)}) == 1


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.sampled_from([None, *range(9)]),
                st.sampled_from([None, "", "a", "ä"]),
            ),
            max_size=60,
        ),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 40),
)
def test_any_sorted_parts_are_merged_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    lists: Sequence[Sequence[tuple[int | None, str | None]]],
    window: int,
) -> None:
    # GIVEN parts of any keys, nulls and repeats among them
    root = tmp_path_factory.mktemp("merge")
    parts = []
    for number, keys in enumerate(lists):
        rows = TrainingMetrics.create_empty()
        frame = pl.DataFrame(
            {
                "file_id": [f"f{number}"] * len(keys),
                "run_id": [text for _, text in keys],
                "attempt": [number for number, _ in keys],
                "step": list(range(len(keys))),
            }
        )
        full = pl.concat([rows, frame.cast({"attempt": pl.Int32})], how="diagonal")
        path = f"{number}.parquet"
        full.select(rows.columns).sort(TrainingMetrics.key).write_parquet(root / path)
        size = (root / path).stat().st_size
        parts.append(Part("t", None, path, full.height, size, "{}", "{}", (), _print()))
    # WHEN they are merged some rows at a time
    found = list(_merging.merged(root, TrainingMetrics, parts, window))
    # THEN the order is that of a sort of all, and nothing is left behind
    whole = pl.concat(pl.read_parquet(root / part.path) for part in parts)
    expected = whole.sort(*TrainingMetrics.key, "file_id")
    assert pl.concat([expected.clear(), *found]).equals(expected)
    assert not list(root.glob(".partial*"))


def _print() -> str:
    from ingest._schema import fingerprint_of

    return fingerprint_of(TrainingMetrics)


def test_memory_holds_a_range_and_not_the_day(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path, 40)
    (wanted,) = (
        one
        for one in merges(root, TABLES, SMALL)
        if one.table is StepTimings and one.day == "1970-01-01"
    )
    heights = [
        frame.height
        for frame in _merging.merged(root, StepTimings, wanted.parts, SMALL.window)
    ]
    assert sum(heights) == wanted.rows == 40 * 65
    assert max(heights) <= SMALL.window


def test_a_full_disk_leaves_the_lake_as_it_was(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks(root, tmp_path)
    before = snapshot(root).manifest

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ingest._spill.Spill.add", full)
    with pytest.raises(OSError, match="No space left"):
        compact(root)
    assert snapshot(root).manifest == before
    named = {root / part.path for part in before.parts}
    assert set(root.rglob("*/*.parquet")) == named


def test_lakes_of_before_are_read(root: Path, tmp_path: Path) -> None:
    ranks(root, tmp_path, 2)
    path = root / "manifest.parquet"
    labels = pl.read_parquet_metadata(path)
    old = pl.read_parquet(path).drop("content")
    old.write_parquet(path, metadata={k: labels[k] for k in ("generation", "format")})
    compact(root)
    assert isinstance(snapshot(root).manifest, Manifest)
    assert len(parts_of(root, StepTimings)) == 2


def test_rows_leave_a_long_part_some_at_a_time(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN parts of 650 rows, of which 100 are held at a time
    ranks(root, tmp_path)
    compact(root)
    monkeypatch.setattr("ingest._draft.LONG_ROWS", 100)
    # WHEN a file leaves for one that shares keys with others
    gone = candidate(tmp_path / "rank-3")
    # one row has the key of a row of rank 2, and one of the two is shown
    new = put(tmp_path, "n", ["s 0 2 0 9", "s 1 2 1 7", f"s 5 3 {DAY} 5"])
    ingest(root, [candidate(new, supersedes=[gone.reading.file_id])])
    # THEN its rows are gone from every part, and nothing else is
    rows = content(root)["step_timings"]
    assert rows.filter(pl.col("rank") == 3)["step"].to_list() == [5]
    assert rows.height == 20 * 130 - 130 + 2
    assert_accounted(root)
