"""How many collectives each rank has launched, from a poll of RAS."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ingest.communication import KINDS
from ingest.sources._flight.values import integer_of, text_of
from ingest.sources._nccl.ras_facts import Poll, Row, host_of, objects_of, state_of


def status_rows(document: Mapping[str, object], poll: Poll) -> Iterator[Row | str]:
    """Yield a row for each rank and kind that its group uses, or the rule it breaks."""
    groups = objects_of(document.get("communicators"))
    seen = Counter(text_of(group.get("hash")) for group in groups)
    for group in groups:
        group_id = text_of(group.get("hash"))
        if group_id is None:
            yield "group_id|required"
            continue
        if seen[group_id] > 1:
            group_id = f"{group_id}:{text_of(group.get('secondary_hash')) or ''}"
        common = {
            "dump_id": poll.dump_id,
            "time_ns": poll.time,
            "group_id": group_id,
            "group_size": integer_of(group.get("size")),
            "place": poll.place,
        }
        yield from (row if isinstance(row, str) else common | row for row in _of(group))


def _of(group: Mapping[str, object]) -> Iterator[Row | str]:
    ranks = objects_of(group.get("ranks"))
    counts = [_counts(rank) for rank in ranks]
    used = sorted({kind for count in counts for kind, n in count.items() if n})
    kinds: list[str | None] = [*used] or [None]
    for rank, count in zip(ranks, counts, strict=True):
        known = _who(rank) | {"rank_state": "answered"}
        if known["rank_in_group"] is None:
            yield "rank|required"
            continue
        for kind in kinds:
            number = count.get(kind) if kind else 0
            yield known | {"kind": kind, "last_enqueued": number}
    for rank in objects_of(group.get("missing_ranks")):
        known = _who(rank) | {"kind": None, "last_enqueued": None}
        if known["rank_in_group"] is None:
            yield "rank|required"
        else:
            yield known | {"rank_state": state_of(rank)}


def _who(rank: Mapping[str, object]) -> Row:
    position = integer_of(rank.get("rank"))
    known = position is not None and 0 <= position < 1 << 31
    return {"rank_in_group": position if known else None, "host": host_of(rank)}


def _counts(rank: Mapping[str, object]) -> dict[str, int]:
    told = rank.get("collective_counts")
    pairs = told.items() if isinstance(told, dict) else ()
    numbers = ((_kind(str(name)), integer_of(count)) for name, count in pairs)
    return {kind: number for kind, number in numbers if number is not None}


def _kind(name: str) -> str:
    """Return a kind by the whole of its name: an AllGatherV is no AllGather."""
    letters = name.lower().replace("_", "")
    return KINDS.get(letters, text_of(letters) or "unknown")
