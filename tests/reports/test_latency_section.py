"""The section of links: its finding, what one line misses, and what is missing."""

from typing import Any

from analysis.bandwidth_checks import BandwidthChecks
from analysis.latency_anatomy import LatencyAnatomy, LatencySizes
from reports import latency_anatomy
from reports._section import Content, Scope
from tests.reports.builder import RUN, framed
from tests.reports.pod_links import links

Row = dict[str, Any]


def built(scope: Scope, *dropped: type, **changed: Any) -> Content:
    """The section of the pod, its first series changed."""
    rows = links(RUN)
    rows[LatencyAnatomy][0] |= changed
    kept = {table: some for table, some in rows.items() if table not in dropped}
    return latency_anatomy.build(framed(kept), scope)


def plain(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_heading_is_the_line_with_its_intervals(scope: Scope) -> None:
    assert plain(built(scope).heading) == (
        "40.0 µs (38.0 µs to 42.0 µs) for a transfer without bytes, 175 GB/s (172 to"
        " 178) for an endless one: DP all-reduce, 8 ranks."
    )


def test_bounds_that_are_one_sided_are_said(scope: Scope) -> None:
    few = built(scope, busbw_high_gbs=None)
    assert "at least 172 GB/s for an endless one" in plain(few.heading)
    many = built(scope, alpha_low_ns=0)
    assert "At most 42.0 µs for a transfer without bytes" in plain(many.heading)
    other = built(scope, busbw_gbs=None)
    assert "100 GB/s of algbw (98.0 to 102)" in plain(other.heading)


def test_a_series_without_a_line_says_what_is_missing(scope: Scope) -> None:
    content = built(scope, beta_gbs=None, alpha_ns=None, reason="none")
    assert plain(content.heading) == (
        "10.8 ms for a transfer of 1.07 GB (median): DP all-reduce, 8 ranks; how much"
        " of it is fixed is not known."
    )
    assert plain(content.paragraphs[1]) == (
        "No series has a line: a line needs 3 sizes, and 1 has transfers of 1 size;"
        " none (1 series)."
    )


def test_what_one_line_misses_is_said(scope: Scope) -> None:
    off, without, tails, checked = map(plain, built(scope).paragraphs)
    assert off.startswith(
        "One line does not fit all sizes: at 33.6 MB a transfer takes 1.50 times"
    )
    assert without.startswith("1 of 2 series have no line")
    assert tails == "A tail needs 100 transfers of one size: 1 of 2 series have one."
    assert checked.startswith(
        "Recomputed from size and time, busbw equals the printed digits in 1 of 2 rows"
    )
    assert not any(
        "does not fit" in text for text in built(scope, worst_ratio=1.1).paragraphs
    )


def test_without_benchmarks_nothing_is_said_of_them(scope: Scope) -> None:
    texts = built(scope, BandwidthChecks).paragraphs
    assert not any("Recomputed" in text for text in texts)


def test_without_sizes_there_is_no_chart(scope: Scope) -> None:
    content = built(scope, LatencySizes)
    assert not content.charts
    assert len(content.listings[0].rows) == 2


def test_the_listings_say_tails_and_verdicts(scope: Scope) -> None:
    series, models = built(scope).listings
    first, second = (tuple(plain(str(cell)) for cell in row) for row in series.rows)
    assert first[4] == "1.00 ms"
    assert second[4] == "\N{EN DASH}"
    verdicts = {str(row[0]): plain(str(row[-1])) for row in models.rows}
    assert verdicts["ring"] == "closest to the medians"
    assert verdicts["tree"] == "a link of the run card is too slow for it"
    assert verdicts["hierarchical"] == "nobody knows"


def test_points_without_any_line_are_in_the_table_alone(scope: Scope) -> None:
    rows = links(RUN)
    lined = latency_anatomy.build(framed(rows), scope)
    (chart,) = lined.charts
    assert "DP all-reduce, 8 ranks (circles)" in chart.legend
    assert any(part.startswith("line: ") for part in chart.legend)
    for row in rows[LatencySizes]:
        row |= {"line_busbw_gbs": None}
    assert not latency_anatomy.build(framed(rows), scope).charts
