"""One run's checkpoints: the best evidence for each number, and where it is from."""

from typing import Any, Final

from analysis._checkpoint_mtbf import FEW_EVENTS, chance_of, spacing_of
from analysis._checkpoint_saving import Row, best, first, saving, seconds, whole
from analysis._checkpoint_spans import repair_of, spans_of

#: Training state of a parameter in mixed precision with Adam: 2 + 2 + 4 + 4 + 4 bytes
#: (Rajbhandari et al., ZeRO, arXiv 1910.02054). A checkpoint of it may hold less.
STATE_BYTES: Final = 16

#: Share of unexpected interruptions that were put down to hardware in Llama 3 (arXiv
#: 2407.21783, section 3.3.4): a local copy is lost with its node. [1]
FAR_RATIO: Final = 0.78


def describe(row: Row, few: float = FEW_EVENTS) -> dict[str, Any]:
    """Return a row of CheckpointEvidence.

    Args:
        row: What `gather` returns of a run.
        few: Below so many interruptions, other sources say more. [1]
    """
    nodes = _nodes(row)
    rate = {name[4:]: row[name] for name in row if name.startswith("own_")}
    own = rate if rate["count"] is not None else None
    spacing = spacing_of(own, row, nodes, few)
    return {
        "run_id": row["run_id"],
        "gpu_count": first(row["seen_gpus"], row["gpu_count"]),
        "node_count": nodes,
        "step_ns": first(row["step_ns"], seconds(row["step_s"])),
        **_counts(row),
        **saving(row),
        **_size(row),
        **_tiers(row, nodes),
        **_far(row, few),
        **_restarting(row),
        **_card(row),
        **repair_of(row),
        **spans_of(row),
        "mtbf_ns": spacing.mean_ns,
        "mtbf_low_ns": spacing.low_ns,
        "mtbf_high_ns": spacing.high_ns,
        "mtbf_source": spacing.source,
        "mtbf_words": spacing.words,
        "mtbf_chance_ratio": chance_of(own, spacing),
    }


def _counts(row: Row) -> dict[str, Any]:
    told = first(row["save_count"], row["steps_save_count"], 0)
    return {
        "save_count": told,
        "failed_save_count": row["failed_save_count"],
        "elsewhere_save_count": first(row["elsewhere_save_count"], 0),
        "older_resume_count": first(row["older_resume_count"], 0),
        "load_count": first(row["load_count"], 0),
        "load_ns": row["load_ns"],
        "tiers": row["tiers"] or None,
        "interruption_count": first(row["interruption_count"], 0),
    }


def _size(row: Row) -> dict[str, Any]:
    each = first(row["state_bytes_per_parameter"], STATE_BYTES)
    state = row["parameters"] and row["parameters"] * each
    size, basis = best(
        saves=row["bytes"], card=row["checkpoint_bytes"], parameters=state
    )
    rounded = whole(size)
    return {"bytes": rounded, "bytes_basis": "none" if rounded is None else basis}


def _card(row: Row) -> dict[str, Any]:
    """Return what only the card tells of stores and writers."""
    gpus = row["seen_gpus"] or row["gpu_count"]
    return {
        "store_gbs": row["checkpoint_store_gbs"],
        "local_gbs": row["checkpoint_local_gbs"],
        "network_gbs": row["network_gbs"],
        "writer_count": first(row["checkpoint_writers"], gpus),
    }


def _tiers(row: Row, nodes: float | None) -> dict[str, Any]:
    """Return the stalls of two tiers: of saves, or of a copy that the card allows."""
    if row["near_stall_ns"] is not None:
        told = {name: row[name] for name in ("near_stall_ns", "far_stall_ns")}
        return {**told, "tiers_basis": "saves"}
    near, far = _local_ns(row, nodes), saving(row)["stall_ns"]
    if near is None or far is None or near >= far:
        return {"near_stall_ns": None, "far_stall_ns": None, "tiers_basis": "none"}
    return {"near_stall_ns": near, "far_stall_ns": far, "tiers_basis": "card"}


def _far(row: Row, few: float) -> dict[str, Any]:
    """Return the share of interruptions that need the far tier."""
    count = row["interruption_count"] or 0
    if count < few or not count:
        return {"far_ratio": FAR_RATIO, "far_basis": "published"}
    return {"far_ratio": row["far_count"] / count, "far_basis": "interruptions"}


def _local_ns(row: Row, nodes: float | None) -> int | None:
    """Return the time to copy a node's share of the state to its local tier. [ns]"""
    rate, size = row["checkpoint_local_gbs"], _size(row)["bytes"]
    return whole(size / nodes / rate) if rate and size and nodes else None


def _restarting(row: Row) -> dict[str, Any]:
    """Return downtime and restart: both from one source, that of more truth."""
    names = ("downtime_ns", "downtime_median_ns", "restart_ns", "restart_median_ns")
    if row["downtime_ns"] is not None or row["restart_ns"] is not None:
        told = {name: row[name] for name in names}
        return {**told, "restart_basis": "interruptions"}
    card = {
        "downtime_ns": seconds(row["checkpoint_downtime_s"]),
        "restart_ns": seconds(row["checkpoint_restart_s"]),
    }
    known = any(value is not None for value in card.values())
    empty = dict.fromkeys(names)
    return {**empty, **card, "restart_basis": "card" if known else "none"}


def _nodes(row: Row) -> float | None:
    """Return nodes held at once: by time, by hosts, or by GPUs in a node."""
    if row["own_node_time_ns"] and row["own_exposure_ns"]:
        return float(row["own_node_time_ns"]) / float(row["own_exposure_ns"])
    if row["seen_nodes"]:
        return float(row["seen_nodes"])
    gpus, each = row["gpu_count"], row["gpus_per_node"]
    return gpus / each if gpus and each else None
