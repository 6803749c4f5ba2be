"""`gpuledger tables`: the data dictionary."""

from pipeline.commands._shared import DONE, Switch


def tables(name: str | None = None, *, sources: Switch = False) -> int:
    """Show the tables, one table's columns, or the formats that can be read.

    Example: gpuledger tables kernels

    Args:
        name: Table whose columns are shown.
        sources: Show the formats that can be read.
    """
    from pipeline import answers, settings
    from pipeline.publishing import EVERY_TABLE

    settings.load()
    if sources:
        answers.describe_sources()
    elif name is None:
        answers.describe_tables(EVERY_TABLE)
    else:
        answers.describe_table(name, EVERY_TABLE)
    return DONE
