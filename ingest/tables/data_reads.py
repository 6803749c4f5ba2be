"""One row per batch given to a rank, or per run of samples of it."""

from typing import ClassVar, Final

import dataframely as dy
import polars as pl

from ingest.tables import _columns as c
from ingest.tables._table import Table

#: Numbers of samples are less than this, to either side of zero: what is beyond counts
#: nothing, and sums of it would leave 64 bit.
NUMBERS: Final = 2**53

#: Most samples of a batch. Steps of the largest runs have some 10**7 tokens. [1]
MOST_SAMPLES: Final = 2**40


class DataReads(Table):
    """One row per batch given to a rank, or per run of samples of it."""

    key: ClassVar = (
        *("run_id", "attempt", "step", "rank", "dp_rank", "dataset", "epoch"),
        *("sample_from", "batch_hash", "time_ns"),
    )
    day_column: ClassVar = "time_ns"

    file_id = c.identifier("File that the row was read from.")
    run_id = c.identifier("Run that the row belongs to.")
    attempt = c.index(
        "Attempt of the run; null where only the time can tell.", nullable=True
    )
    step = c.number("Optimizer step.")
    rank = c.index("Global rank; null where only the replica is told.", nullable=True)
    dp_rank = c.index(
        "Data-parallel replica; null where the layout tells it.", nullable=True
    )
    dataset = c.identifier("Data set.", nullable=True)
    epoch = c.number("Pass over the data set.", nullable=True)
    sample_from = c.number("First sample.", nullable=True)
    sample_to = c.number("Sample after the last.", nullable=True)
    batch_hash = c.identifier("Hash of the batch.", nullable=True)
    tokens = c.tally("Tokens of the batch.", nullable=True)
    tokens_squared = c.tally("Sum of the squares of document lengths.", nullable=True)
    longest_document = c.tally("Tokens of the longest document.", nullable=True)
    time_ns = c.time_ns("When it was given.", nullable=True)

    @dy.rule()
    def nobody_read_it(cls) -> pl.Expr:  # noqa: N805 - of the class
        """Want to know who read it: the rank, or the replica."""
        return pl.col("rank").is_not_null() | pl.col("dp_rank").is_not_null()

    @dy.rule()
    def half_a_range(cls) -> pl.Expr:  # noqa: N805 - of the class
        """Want both ends of the samples, or none."""
        return pl.col("sample_from").is_null() == pl.col("sample_to").is_null()

    @dy.rule()
    def range_without_samples(cls) -> pl.Expr:  # noqa: N805 - of the class
        """Want at least one sample: the range ends with the sample after the last."""
        holds = pl.col("sample_from") < pl.col("sample_to")
        return holds.fill_null(value=True)

    @dy.rule()
    def samples_beyond_any_set(cls) -> pl.Expr:  # noqa: N805 - of the class
        """Want numbers that count samples, no more of them than a batch has."""
        first, after = pl.col("sample_from"), pl.col("sample_to")
        inside = first.is_between(-NUMBERS, NUMBERS) & after.is_between(
            -NUMBERS, NUMBERS
        )
        # of numbers outside, the difference may be of any sign
        holds = inside & (after - first <= MOST_SAMPLES)
        return holds.fill_null(value=True)
