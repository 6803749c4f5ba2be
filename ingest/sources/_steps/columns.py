"""The columns of a table of steps: which must be there, and what the others default to.

Without a column, or where a cell of it is empty, a row is of the host's clock, of one
rank and of one step.
"""

from typing import Final

from ingest.sources._typed.shape import Shape
from ingest.tables import DataReads, StepTimings

#: Columns that such a table must have; a cell may be empty where the table allows it.
REQUIRED: Final = (
    StepTimings.step.name,
    StepTimings.rank.name,
    StepTimings.start_ns.name,
    StepTimings.duration_ns.name,
)

#: What such a table is like.
STEPS: Final = Shape(
    table=StepTimings,
    noun="a table of steps",
    needs=(REQUIRED,),
    others=frozenset(
        {
            DataReads.sample_from.name,
            DataReads.sample_to.name,
            DataReads.batch_hash.name,
        }
    ),
    other_table=DataReads,
    defaults={
        StepTimings.clock.name: "host",
        StepTimings.scope.name: "rank",
        StepTimings.step_count.name: 1,
    },
)
