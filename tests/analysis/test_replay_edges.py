"""What waits for what around the passes of a step, named one by one."""

import polars as pl

from analysis._replay_graph import Graph, graph_of
from analysis._replay_levels import ALL, ALONE, REPLICAS

#: Kind, stage, chunk, start and end of an operation. [ns]
Drawn = tuple[str, int, int, int, int]

PASSES: list[Drawn] = [
    ("forward-compute", 0, 0, 10, 20),
    ("forward-compute", 0, 1, 20, 30),
    ("backward-compute", 0, 1, 30, 50),
    ("backward-compute", 0, 0, 50, 70),
]

ENDS: list[Drawn] = [
    ("gc", 0, 0, 71, 71),
    ("layernorm-grads-all-reduce", 0, 0, 80, 81),
    ("embedding-grads-all-reduce", 0, 0, 81, 82),
    ("optimizer-clip-main-grad", 0, 0, 90, 91),
    ("optimizer", 0, 0, 91, 99),
]

GATHERS: list[Drawn] = [
    ("params-all-gather", 0, 0, 0, 5),
    ("params-all-gather", 0, 1, 5, 10),
]


def nodes_of(drawn: list[Drawn]) -> pl.DataFrame:
    """Return nodes of drawn operations, numbered as they stand."""
    schema = ["kind", "pp_rank", "chunk", "start_ns", "end_ns"]
    told = pl.DataFrame(drawn, schema=schema, orient="row").with_row_index("node")
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank", "kind")
    return told.with_columns(
        pl.col("node").cast(pl.Int64),
        position=place,
        microbatch=pl.lit(None, pl.Int64),
    )


def names(nodes: pl.DataFrame) -> list[str]:
    """Return kind, position and, beyond the first, stage of each node."""
    return [
        f"{kind} {position}" + (f" of {stage}" if stage else "")
        for kind, position, stage in nodes.select("kind", "position", "pp_rank").rows()
    ]


def edges_of(drawn: list[Drawn]) -> set[tuple[str, str]]:
    """Return edges by the names of their ends."""
    nodes = nodes_of(drawn)
    named = names(nodes)
    rows = graph_of(nodes).edges.select("before", "after").rows()
    return {(named[before], named[after]) for before, after in rows}


#: Passes in turn, and each chunk's first pass after its parameters.
USUAL = {
    ("params-all-gather 0", "params-all-gather 1"),
    ("params-all-gather 0", "forward-compute 0"),
    ("params-all-gather 1", "forward-compute 1"),
    ("forward-compute 0", "forward-compute 1"),
    ("forward-compute 1", "backward-compute 0"),
    ("backward-compute 0", "backward-compute 1"),
    ("backward-compute 1", "gc 0"),
    ("gc 0", "layernorm-grads-all-reduce 0"),
    ("layernorm-grads-all-reduce 0", "embedding-grads-all-reduce 0"),
    ("optimizer-clip-main-grad 0", "optimizer 0"),
}


def test_scatters_after_the_last_pass() -> None:
    scatters: list[Drawn] = [
        ("grads-reduce-scatter", 0, 1, 82, 85),
        ("grads-reduce-scatter", 0, 0, 85, 88),
    ]
    assert edges_of([*GATHERS, *PASSES, *scatters, *ENDS]) == USUAL | {
        ("params-all-gather 1", "grads-reduce-scatter 0"),
        ("embedding-grads-all-reduce 0", "grads-reduce-scatter 0"),
        ("grads-reduce-scatter 0", "grads-reduce-scatter 1"),
        ("grads-reduce-scatter 1", "optimizer-clip-main-grad 0"),
    }


def test_scatters_that_overlap_with_passes() -> None:
    """Gradients reduced apart tell so: each chunk's scatter follows its last pass."""
    scatters: list[Drawn] = [
        ("grads-reduce-scatter", 0, 1, 50, 60),
        ("grads-reduce-scatter", 0, 0, 70, 79),
        ("separate-grads-all-reduce", 0, 0, 83, 84),
    ]
    assert edges_of([*GATHERS, *PASSES, *scatters, *ENDS]) == USUAL | {
        ("params-all-gather 1", "grads-reduce-scatter 0"),
        ("backward-compute 0", "grads-reduce-scatter 0"),
        ("backward-compute 1", "grads-reduce-scatter 1"),
        ("grads-reduce-scatter 0", "grads-reduce-scatter 1"),
        ("grads-reduce-scatter 1", "layernorm-grads-all-reduce 0"),
        ("embedding-grads-all-reduce 0", "separate-grads-all-reduce 0"),
        ("separate-grads-all-reduce 0", "optimizer-clip-main-grad 0"),
    }


def test_without_replicas_nothing_is_gathered_or_scattered() -> None:
    gathered = {edge for edge in USUAL if "params" not in edge[0]}
    assert edges_of([*PASSES, *ENDS]) == gathered | {
        ("embedding-grads-all-reduce 0", "optimizer-clip-main-grad 0")
    }


def test_pauses_between_passes_take_their_turn() -> None:
    pauses: list[Drawn] = [("gc", 0, 0, 20, 20), ("gc", 0, 0, 50, 50)]
    passes = PASSES[:1], PASSES[1:3], PASSES[3:]
    drawn = [*passes[0], pauses[0], *passes[1], pauses[1], *passes[2]]
    assert edges_of(drawn) == {
        ("forward-compute 0", "gc 0"),
        ("gc 0", "forward-compute 1"),
        ("forward-compute 1", "backward-compute 0"),
        ("backward-compute 0", "gc 1"),
        ("gc 1", "backward-compute 1"),
        # the way of the micro-batch through both chunks
        ("forward-compute 0", "forward-compute 1"),
        ("backward-compute 0", "backward-compute 1"),
    }


#: Two stages; stage 0 sends forward and receives backward in one operation.
COMBINED: list[Drawn] = [
    ("forward-compute", 0, 0, 0, 10),
    ("forward-send", 0, 0, 10, 12),
    ("forward-compute", 0, 0, 12, 20),
    ("forward-send-backward-recv", 0, 0, 20, 40),
    ("backward-compute", 0, 0, 40, 50),
    ("backward-recv", 0, 0, 50, 62),
    ("backward-compute", 0, 0, 62, 70),
    ("forward-recv", 1, 0, 0, 12),
    ("forward-compute", 1, 0, 12, 22),
    ("backward-compute", 1, 0, 22, 32),
    ("backward-send-forward-recv", 1, 0, 32, 40),
    ("forward-compute", 1, 0, 40, 50),
    ("backward-compute", 1, 0, 50, 60),
    ("backward-send", 1, 0, 60, 62),
]


def test_combined_transfers_send_one_way_and_receive_the_other() -> None:
    edges = edges_of(COMBINED)
    both, peer = "forward-send-backward-recv 0", "backward-send-forward-recv 0 of 1"
    assert {
        ("forward-compute 1", both),
        (both, "backward-compute 0"),
        ("backward-compute 0 of 1", peer),
        (peer, "forward-compute 1 of 1"),
    } <= edges


def groups_of(graph: Graph, nodes: pl.DataFrame) -> set[frozenset[str]]:
    """Return the groups with more than one member, by name."""
    named = pl.DataFrame({"name": names(nodes), "group": graph.group})
    members = named.group_by("group").agg("name")["name"]
    return {frozenset(group) for group in members if len(group) > 1}


def test_combined_transfers_have_a_combined_peer() -> None:
    nodes = nodes_of(COMBINED)
    assert groups_of(graph_of(nodes), nodes) == {
        frozenset({"forward-send 0", "forward-recv 0 of 1"}),
        frozenset(
            {"forward-send-backward-recv 0", "backward-send-forward-recv 0 of 1"}
        ),
        frozenset({"backward-recv 0", "backward-send 0 of 1"}),
    }


def test_who_leaves_together() -> None:
    second = [(kind, 1, *rest) for kind, _, *rest in [*GATHERS, *PASSES, *ENDS]]
    nodes = nodes_of([*GATHERS, *PASSES, *ENDS, *second])  # type: ignore[list-item]
    graph = graph_of(nodes)
    clip, embedding = "optimizer-clip-main-grad 0", "embedding-grads-all-reduce 0"
    assert groups_of(graph, nodes) == {
        frozenset({clip, f"{clip} of 1"}),
        frozenset({embedding, f"{embedding} of 1"}),
    }
    reach = dict(zip(nodes["kind"], graph.reach.tolist(), strict=True))
    assert {kind for kind, far in reach.items() if far == ALL} == {clip[:-2]}
    assert {kind for kind, far in reach.items() if far == REPLICAS} == {
        "params-all-gather"
    }
    assert reach["forward-compute"] == ALONE
