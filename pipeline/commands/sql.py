"""`gpuledger sql`: a question in DuckDB SQL."""

from typing import Literal

from pipeline.commands._shared import COMMON, DONE, Common, settings_of


def sql(
    query: str,
    *,
    format: Literal["table", "csv", "json", "parquet"] = "table",  # noqa: A002
    common: Common = COMMON,
) -> int:
    """Ask the lake in DuckDB SQL; nothing can be changed.

    Example: gpuledger sql "SELECT category, sum(gpu_ns) FROM lost_time GROUP BY 1"

    Args:
        query: One query.
        format: How rows are written to stdout.
        common: What every command takes.
    """
    from pipeline import answers, querying

    settings = settings_of(common)
    frames = querying.batches_of(settings.lake, query, as_text=format != "parquet")
    answers.write(frames, format)
    for hint in querying.hints_of(settings.lake, query, settings.by_day_rows):
        common.say(hint)
    return DONE
