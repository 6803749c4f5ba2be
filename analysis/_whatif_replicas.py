"""Replicas and stages that a replay lacks, and with them their part of transfers."""

from analysis._whatif_fix import Trace


def replicas_gone(trace: Trace) -> str:
    """Return why transfers of a trace are not all known; empty where they are.

    Args:
        trace: The trace.
    """
    doubts = trace.replay.doubts
    said = doubts.without_stages()
    if doubts.replicas:
        one = doubts.replicas == 1
        many = "a replica was" if one else f"{doubts.replicas} replicas were"
        said = [
            f"{many} left out of the replay, and how long transfers waited for it",
            *said,
        ]
    return "; ".join(said)
