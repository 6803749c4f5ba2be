"""Replicas that a replay has left out, and with them their part of transfers."""

from analysis._whatif_fix import Trace


def replicas_gone(trace: Trace) -> str:
    """Return why transfers of a trace are not all known; empty where they are.

    Args:
        trace: The trace.
    """
    left_out = trace.replay.replicas_left_out
    if not left_out:
        return ""
    many = "a replica was" if left_out == 1 else f"{left_out} replicas were"
    return f"{many} left out of the replay, and how long transfers waited for it"
