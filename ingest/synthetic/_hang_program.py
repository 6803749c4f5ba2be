"""What each rank of a job asks its GPU for, step by step."""

from collections.abc import Iterator

from ingest.synthetic._hang_layout import Group, Layout, Operation


class Programs:
    """Programs of ranks: steps of one forward, one backward (1F1B), then gradients."""

    def __init__(self, layout: Layout) -> None:
        """Know the groups of each rank."""
        self._layout = layout
        self._of: dict[tuple[int, str], Group] = {}
        for group in layout.groups():
            for rank in group.members:
                self._of[rank, group.purpose] = group

    def program(self, rank: int, steps: int) -> list[Operation]:
        """Return what a rank asks for in some steps, in order."""
        return [
            operation
            for _ in range(steps)
            for operation in (*self._passes(rank), *self._gradients(rank))
        ]

    def _passes(self, rank: int) -> Iterator[Operation]:
        layout, (_, _, stage) = self._layout, self._layout.place(rank)
        ahead = min(layout.pp - 1 - stage, layout.micro_batches)
        for _ in range(ahead):
            yield from self._pass(rank, 1)
        for _ in range(layout.micro_batches - ahead):
            yield from self._pass(rank, 1)
            yield from self._pass(rank, -1)
        for _ in range(ahead):
            yield from self._pass(rank, -1)

    def _pass(self, rank: int, direction: int) -> Iterator[Operation]:
        """Yield a forward (1) or backward (-1) pass of a micro-batch."""
        layout, (t, d, stage) = self._layout, self._layout.place(rank)
        size, group = layout.hidden, "PIPELINE_MODEL_PARALLEL_GROUP"
        before, after = stage - direction, stage + direction
        if 0 <= before < layout.pp:
            yield self._pair(rank, "recv", group, size, layout.rank(t, d, before))
        for _ in range(layout.layers):
            yield from self._joint(rank, "_all_gather_base", "TENSOR_MODEL", size)
            if layout.ep > 1:
                share = size + 8 * rank
                yield from self._joint(rank, "all_to_all", "EXPERT_MODEL", share)
            yield from self._joint(
                rank, "_reduce_scatter_base", "TENSOR_MODEL", size * layout.tp
            )
        if 0 <= after < layout.pp:
            yield self._pair(rank, "send", group, size, layout.rank(t, d, after))

    def _gradients(self, rank: int) -> Iterator[Operation]:
        size, dp = 4 * self._layout.hidden, self._layout.dp
        for _ in range(2):
            yield from self._joint(
                rank, "_reduce_scatter_base", "DATA_PARALLEL", size * dp, "Float"
            )
        yield from self._joint(rank, "all_reduce", "MODEL_PARALLEL", 1, "Float")
        yield from self._joint(rank, "_all_gather_base", "DATA_PARALLEL", size)
        yield from self._joint(rank, "all_reduce", "default_pg", 2, "Float")

    def _joint(
        self, rank: int, kind: str, axis: str, size: int, dtype: str = "BFloat16"
    ) -> Iterator[Operation]:
        """Yield a collective, where the rank has a group of several for it."""
        group = next(
            g for (r, p), g in self._of.items() if r == rank and p.startswith(axis)
        )
        if len(group.members) > 1:
            yield Operation(kind, group.name, size, dtype)

    def _pair(
        self, rank: int, kind: str, purpose: str, size: int, peer: int
    ) -> Operation:
        name = self._of[rank, purpose].name
        return Operation(kind, name, size, peer=peer)
