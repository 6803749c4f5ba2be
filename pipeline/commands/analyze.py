"""`gpuledger analyze`: the result tables of the lake."""

from pipeline.commands._shared import COMMON, DONE, PARTIAL, Common, answer, settings_of


def analyze(
    *,
    run_id: str | None = None,
    since: str | None = None,
    common: Common = COMMON,
) -> int:
    """Fill the result tables; what has not changed is skipped.

    Example: gpuledger analyze --lake lake

    Args:
        run_id: Run whose rows are filled; the rows of other runs stay as they are.
        since: Day (YYYY-MM-DD): only runs that were seen on it or later.
        common: What every command takes.
    """
    from ingest.errors import LakeError
    from ingest.lake import open_writer, snapshot
    from pipeline import steps
    from pipeline._unfinished import unfinished

    settings = settings_of(common)
    if not snapshot(settings.lake).generation:
        message = f"{settings.lake}: no lake there; ingest something first"
        raise LakeError(message)
    with open_writer(
        settings.lake, wait=common.wait, grace_s=settings.grace_s
    ) as writer:
        done = steps.analyze(
            writer, settings, run_id=run_id, since=since, say=common.say
        )
    head, *refused = done.lines()
    answer(head)
    for line in (*refused, *unfinished(snapshot(settings.lake))):
        common.say(line)
    return PARTIAL if refused else DONE
