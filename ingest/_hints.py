"""What is said of a refused record where its reader says nothing: hints by rule."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from ingest.phrases import phrase

_CUT: Final = "the end of the last record is missing; read again when the file is whole"
_SPAN_START: Final = "the start is before this file, or was not written"
_SPAN_END: Final = "the end is in a later file, or the run was stopped before it"
_JSON: Final = "no whole JSON value; whoever wrote it stopped, or two wrote at once"
_CELLS: Final = "another number of cells than the header has"

#: Hints by the whole name of a rule.
BY_RULE: Final[Mapping[str, str]] = {
    "truncated": _CUT,
    "truncated_line": _CUT,
    "line_too_long": "longer than a record can be; its end was not looked at",
    "record_too_long": "longer than a record can be; its end was not looked at",
    "object_too_long": "longer than an object can be; its end was not looked at",
    "trailing_data": "something follows the end of the document",
    "after_the_list": "something follows the end of the list",
    "malformed": _JSON,
    "json": _JSON,
    "form": "not in the form of the records around it",
    "type": "a value of another type than its field has",
    "cell_count": _CELLS,
    "field_count": _CELLS,
    "column_width": "wider than its column, which cuts it; sacct -P cuts nothing",
    "node_list": "no list of nodes, as in node[1-4,7]",
    "checkpoint_failed": "an error was logged before its end: it saved nothing",
    "checkpoint_without_start": _SPAN_START,
    "checkpoint_without_end": _SPAN_END,
    "step_failed": "an error was logged before its end: it is no whole step",
    "step_without_start": _SPAN_START,
    "step_without_end": _SPAN_END,
    "no_begin": _SPAN_START,
    "no_end": _SPAN_END,
    "no_device": "work without the index of a GPU",
    "no_time": "an event without a time",
    "negative_duration": "it ends before it starts",
    "duration_ns|max": "longer than a year; was it written in another unit?",
    "parts_exceed_duration": "its parts share no time, so their sum is its duration"
    " at most, 1 % or 1 ms a part for rounding aside",
    "longer_than_trace": "it takes longer than the trace in which it is",
    "time_outside_trace": "its time is outside the trace in which it is",
    "not_whole_numbers": "whole numbers were expected; these are of another type",
    "missing_column": "the table has not the columns that rows are made of",
    "damaged": "the database is damaged here; sqlite3's .recover may save it",
    "pickle": "no whole pickle; dump it again",
    "nobody_read_it": "neither a rank nor a replica (dp_rank) that read it",
    "half_a_range": "one end of the samples without the other",
    "range_without_samples": "sample_to is the sample after the last: it must be"
    " greater than sample_from",
    "columns_of_another_table": "columns of data_reads in a table of steps: give them"
    " in a table of their own, without start_ns and duration_ns",
    "samples_beyond_any_set": "numbers of samples up to 2**53, and no batch has more"
    " than 2**40",
    "primary_key": "another row has the same key",
}

#: Hints by what a rule says of a column, after its name.
BY_CHECK: Final[Mapping[str, str]] = {
    "required": "no value; every row needs one",
    "nullability": "no value; every row needs one",
    "number": "no number, or one that 64 bit do not hold",
    "integer": "no whole number",
    "min": "less than it can be",
    "min_exclusive": "less than it can be",
    "max": "more than it can be",
    "max_exclusive": "more than it can be",
    "min_length": "empty",
    "max_length": "longer than it can be",
    "check": "none of the words that it can be; `gpuledger tables` lists them",
    "dtype": "a value that its type does not hold",
    "inf": "infinite",
    "nan": "not a number",
    "value": "no value that it can have",
    "time": "no time that can be read",
    "stamp": "no time that can be read",
    "unit": "a unit that is not known",
    "word": "a word that is not known",
    "order": "not in the order of time",
    "count": "another number of values than its record has of others",
    "most": "more than are read",
}


def hinted(records: pl.DataFrame) -> pl.DataFrame:
    """Return refused records with a hint where they have none.

    Args:
        records: Rows of RejectedRows.
    """
    if not records["hint"].null_count():
        return records
    rule = pl.col("rule")
    check = rule.str.extract(r"\|([^|]*)$")
    told = phrase("{}: {}", rule.str.extract(r"^(.*)\|"), _said(check, BY_CHECK))
    return records.with_columns(pl.coalesce("hint", _said(rule, BY_RULE), told))


def _said(words: pl.Expr, hints: Mapping[str, str]) -> pl.Expr:
    return words.replace_strict(hints, default=None, return_dtype=pl.String)
