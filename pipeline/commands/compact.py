"""`gpuledger compact`: few large parts, and old raw days as rollups only."""

from pipeline.commands._shared import COMMON, DONE, Common, answer, settings_of


def compact(*, keep_raw: str | None = None, common: Common = COMMON) -> int:
    """Merge small parts; retire raw days that rollups cover.

    Example: gpuledger compact --keep-raw 7d --lake lake

    Args:
        keep_raw: Days before the newest day of the data whose raw step timings and
            power samples stay, as in 7d; older ones become rollups only, for good.
            Nothing is retired without it: the setting keep_raw is for nights.
        common: What every command takes.
    """
    from ingest.errors import LakeError
    from ingest.lake import open_writer, snapshot
    from pipeline import compacting

    settings = settings_of(common)
    if keep_raw is not None:
        compacting.days_of(keep_raw)
    elif settings.keep_raw is not None:
        common.say(
            f"keep_raw = {settings.keep_raw!r} of the settings is for nights: nothing"
            " is retired here without --keep-raw"
        )
    settings = settings.model_copy(update={"keep_raw": keep_raw})
    if not snapshot(settings.lake).generation:
        message = f"{settings.lake}: no lake there; ingest something first"
        raise LakeError(message)
    with open_writer(
        settings.lake, wait=common.wait, grace_s=settings.grace_s
    ) as writer:
        done = compacting.compact(writer, settings, common.say)
    head, *rest = done.lines()
    answer(head)
    for line in rest:
        common.say(line)
    return DONE
