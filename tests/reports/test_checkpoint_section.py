"""The section on checkpoints: its finding, what it rests on, what is not known."""

from typing import Any

import duckdb
import polars as pl

from analysis import Frames
from analysis.checkpoint_evidence import CheckpointEvidence
from analysis.checkpoint_plans import CheckpointCurves, CheckpointPlans
from ingest.tables import Table
from reports._section import Content, Scope
from reports.checkpoint_plans import SECTION
from tests.reports.builder import RUN, Row, S, framed
from tests.reports.conftest import MakeScope
from tests.reports.pod_checkpoints import checkpoints

Rows = dict[type[Table], list[Row]]


def changed(rows: Rows, table: type[Table], where: str = "", **other: Any) -> Rows:
    """Rows with other values in one table, of one method where it is named."""
    told = [
        row | other if not where or row.get("method") == where else row
        for row in rows[table]
    ]
    return rows | {table: told}


def built(rows: Rows, scope: Scope) -> Content:
    return SECTION.build(framed(rows), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_finding_names_both_intervals_and_a_day(scope: Scope) -> None:
    content = built(checkpoints(RUN), scope)
    # 0.162 - 0.09 of the time; 0.072 x 8 GPUs x 24 h x 2.5 USD
    assert plain(content.heading) == (
        "A save every 15.0 min (300 steps) instead of 60.0 min (1 200 steps) would win"
        " 7.2 % of the time: 34.6 USD a day of training."
    )
    stall, spacing, away, failed = map(plain, content.paragraphs)
    assert stall.startswith("A save stalls training for 30.0 s (median of the slowest")
    assert "It is safe after 90.0 s" in stall
    assert "4.00 h (2.00 h to 11.0 h); 6 interruptions of this run." in spacing
    assert "waste 0.40 % (1.92 USD a day) of the time more" in spacing
    assert "saves 9.60 USD to 67.2 USD a day." in spacing
    assert "5.00 min from the last step to the next start (mean; median" in away
    assert failed == "1 save of 11 never ended or was never safe."


def test_tables_say_what_is_settled_and_what_is_missing(scope: Scope) -> None:
    plans, replays, bursts = built(checkpoints(RUN), scope).listings
    said = {row[0]: [plain(str(cell)) for cell in row] for row in plans.rows}
    assert said["in use"][1:4] == [
        "60.0 min (1 200 steps)",
        "16.2 %",
        "7.0 % to 30.0 %",
    ]
    assert said["two tiers"][-1] == "no two tiers are known"
    told = {row[0]: [plain(str(cell)) for cell in row] for row in replays.rows}
    assert told["best interval"][4] == "7.0 % ± 3.9 %"
    assert told["best interval"][6] == ""
    assert told["twice the interval"][4:7] == [
        "\N{MINUS SIGN}2.0 % ± 5.9 %",
        "\N{MINUS SIGN}9.60 USD",
        "within its error",
    ]
    assert [row[0] for row in bursts.rows] == [
        "straight to the store",
        "to the node, then to the store",
    ]
    assert plain(str(bursts.rows[0][1])) == "200×"
    assert plain(bursts.title).endswith("128 GB to a store of 2.00 GB/s")


def test_next_to_the_best_there_is_nothing_to_win(scope: Scope) -> None:
    rows = changed(checkpoints(RUN), CheckpointPlans, "in_use", waste_ratio=0.0905)
    near = changed(rows, CheckpointPlans, "in_use", interval_ns=880 * S)
    content = built(near, scope)
    assert "is about the best interval" in content.heading
    assert plain(content.heading).endswith("less than 0.10 % of the time.")
    points = _points(content)
    # words next to each other would cover each other: one point with both names
    assert [row["label"] for row in points] == ["in use and best: 9.0\u202f%"]


def test_points_have_room_for_their_words(scope: Scope) -> None:
    in_use, best = sorted(
        _points(built(checkpoints(RUN), scope)), key=lambda row: -row["x"]
    )
    # the curve runs from 100 to 8100 s: its middle is 900 s
    assert (in_use["side"], in_use["place"]) == ("left", 1)
    assert best["place"] == 0


def _points(content: Content) -> list[dict[str, Any]]:
    sets = content.charts[0].spec["datasets"].values()
    return next(rows for rows in sets if "side" in rows[0])


def test_the_legend_names_ends_only_where_there_are_any(scope: Scope) -> None:
    rows = checkpoints(RUN)
    assert any("dashed" in part for part in built(rows, scope).charts[0].legend)
    bare = changed(rows, CheckpointCurves, waste_low_ratio=None, waste_high_ratio=None)
    assert not any("dashed" in part for part in built(bare, scope).charts[0].legend)


def test_what_a_finding_rests_on_stands_beside_it(scope: Scope) -> None:
    rows = checkpoints(RUN)
    weak = changed(
        rows, CheckpointEvidence, mtbf_source="own_weak", interruption_count=2
    )
    assert built(weak, scope).heading.endswith(
        "It rests on 2 interruptions, too few to rely on."
    )
    assumed = changed(rows, CheckpointEvidence, mtbf_source="published")
    assert built(assumed, scope).heading.endswith("is assumed.")
    unlike = changed(
        rows, CheckpointEvidence, mtbf_source="card_rate", mtbf_chance_ratio=0.2
    )
    assert "the chance of that is 20.0" in plain(built(unlike, scope).paragraphs[1])


def test_what_is_no_advice_is_said_without_a_saving(scope: Scope) -> None:
    rows = changed(checkpoints(RUN), CheckpointPlans, "exact", withheld="it may lose")
    content = built(rows, scope)
    assert plain(content.heading) == (
        "How often to save is not settled: it may lose. At the rate that is taken a"
        " save every 15.0 min (300 steps) instead of 60.0 min (1 200 steps) would cost"
        " least."
    )
    assert "USD" not in " ".join(content.paragraphs)
    assert content.charts
    assert content.listings[0].more == "No interval here is advice: it may lose."
    near = changed(rows, CheckpointPlans, "in_use", waste_ratio=0.0905)
    assert built(near, scope).heading.endswith("of the time. But it may lose.")


def test_a_run_without_advice_comes_after_those_with_any(make_scope: MakeScope) -> None:
    none = changed(checkpoints("one"), CheckpointPlans, "exact", withheld="it may lose")
    both = {table: none[table] + checkpoints("two")[table] for table in none}
    rows = built(both, make_scope("one", "two")).listings[0].rows
    assert [row[0] for row in rows] == ["two", "one"]
    assert rows[1][4:6] == ("\N{EN DASH}", "\N{EN DASH}")


def test_what_is_not_known_is_said_with_its_reason(scope: Scope) -> None:
    rows = checkpoints(RUN)
    blind = changed(
        changed(rows, CheckpointEvidence, stall_ns=None, stall_basis="none"),
        CheckpointPlans,
        "exact",
        interval_ns=None,
        waste_ratio=None,
        reason="no source tells how long a save takes",
    )
    content = built(blind | {CheckpointCurves: []}, scope)
    assert content.heading == (
        "How often to save is not known: no source tells how long a save takes."
    )
    assert not content.charts
    unseen = changed(
        rows,
        CheckpointPlans,
        "in_use",
        interval_ns=None,
        waste_ratio=None,
        reason="one save",
    )
    assert built(unseen, scope).heading.endswith("in use is not known: one save.")


def test_several_runs_are_listed_and_the_dearest_leads(make_scope: MakeScope) -> None:
    less = changed(checkpoints("two"), CheckpointPlans, "exact", saved_gpu_ns_per_day=1)
    both = {table: checkpoints("one")[table] + less[table] for table in less}
    content = built(both, make_scope("one", "two"))
    assert "of one" in content.heading
    assert [row[0] for row in content.listings[0].rows] == ["one", "two"]


def test_queries_of_the_tables_run(make_scope: MakeScope) -> None:
    both = {
        table: rows + checkpoints("two")[table]
        for table, rows in checkpoints("one").items()
    }
    lake, frames = duckdb.connect(), framed(both)
    for table in SECTION.inputs:
        lake.register(table.sql_name(), frames[table].collect().to_arrow())
    for listing in SECTION.build(frames, make_scope("one", "two")).listings:
        assert isinstance(lake.sql(listing.sql).pl(), pl.DataFrame)


def test_without_saves_it_says_what_would_be_found(scope: Scope) -> None:
    content = SECTION.build(Frames({}), scope)
    assert content.empty is not None
    assert "What would be found" in content.empty
