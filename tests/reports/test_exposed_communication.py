"""What the page says of exposed communication, from rows by hand."""

from typing import Any

import pytest

from analysis.hiding_costs import HidingCosts
from analysis.overlap import Overlap
from analysis.overlap_groups import OverlapGroups
from reports import overlap
from reports._overlap_words import both_in_words
from reports._section import Content, Scope
from tests.reports.builder import RUN, framed
from tests.reports.conftest import MakeScope
from tests.reports.pod import pod


def page(scope: Scope, **left_out: Any) -> Content:
    tables: dict[Any, Any] = {**pod()}
    for table in (OverlapGroups, HidingCosts):
        change = left_out.get(table.__name__)
        tables[table] = [row for row in tables[table] if not change or change(row)]
    return overlap.build(framed(tables), scope)


def names(content: Content) -> list[str]:
    return [chart.name for chart in content.charts]


@pytest.mark.parametrize(
    ("axis", "kind", "said"),
    [
        ("dp", "reducescatter", "DP reduce-scatter"),
        ("world", "allreduce", "all-reduce of all ranks"),
        ("unknown", "sendrecv", "send/receive"),
        ("unknown", "unknown", "communication of an unknown kind"),
        ("pp", "scatter", "PP scatter"),
    ],
)
def test_kinds_are_said_as_people_write_them(axis: str, kind: str, said: str) -> None:
    assert both_in_words(axis, kind) == said


def test_three_charts_where_everything_is_known(scope: Scope) -> None:
    assert names(page(scope)) == ["overlap-ranks", "overlap-kinds", "overlap-steps"]


def test_without_groups_the_heading_speaks_of_all_communication(scope: Scope) -> None:
    content = page(scope, OverlapGroups=lambda _: False)
    assert content.heading.startswith("Compute hides")
    assert names(content) == ["overlap-ranks"]


def test_one_step_makes_no_line(scope: Scope) -> None:
    content = page(scope, OverlapGroups=lambda row: row["step"] in {None, 3})
    assert names(content) == ["overlap-ranks", "overlap-kinds"]


def test_what_hiding_costs_is_said_with_its_kernel(scope: Scope) -> None:
    # 50 kernels of 1 ms, 20 % longer, on 8 ranks: 80 ms; the other is within 1 %
    (said,) = (one for one in page(scope).paragraphs if "Hiding" in one)
    assert said.replace("\u202f", " ").startswith(
        "Hiding seems to cost 80.0 ms of compute on the traced GPUs: 1 of 2 compute"
        " kernels"
    )
    assert "gemm costs most, at 1.20 times its length" in said


def test_that_hiding_costs_nothing_is_said_too(scope: Scope) -> None:
    content = page(scope, HidingCosts=lambda row: row["name"] == "softmax")
    (said,) = (one for one in content.paragraphs if "Hiding" in one)
    assert said.startswith("Hiding costs nothing that could be seen: of 1 compute")


def test_several_runs_share_no_axis_of_steps(make_scope: MakeScope) -> None:
    rows: dict[Any, Any] = {**pod()}
    for table in (Overlap, OverlapGroups):
        rows[table] = rows[table] + [row | {"run_id": "other"} for row in rows[table]]
    for runs, last in (((RUN,), "overlap-steps"), ((RUN, "other"), "overlap-kinds")):
        assert names(overlap.build(framed(rows), make_scope(*runs)))[-1] == last


def test_devices_without_ranks_are_named_by_their_number(scope: Scope) -> None:
    whole = {"run_id": RUN, "attempt": 0, "span_ns": 10, "compute_ns": 10}
    parts = ("overlapped", "exposed_communication", "exposed_memory", "communication")
    zero = {f"{part}_ns": 0 for part in (*parts, "idle")}
    rows = [whole | zero | {"trace_id": "ab12cd34", "device": n} for n in (0, 1)]
    content = overlap.build(framed({Overlap: rows}), scope)
    assert content.paragraphs[0].startswith("2 devices of 1 trace (ranks not told), ")
    assert labels(content) == {"device 0", "device 1"}
    rows.append(rows[0] | {"trace_id": "ef56ab78"})
    assert "device 0, trace ef56ab" in labels(
        overlap.build(framed({Overlap: rows}), scope)
    )


def labels(content: Content) -> set[str]:
    """What the bars are of."""
    (rows,) = content.charts[0].spec["datasets"].values()
    return {row["label"] for row in rows}
