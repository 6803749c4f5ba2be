"""Readers of tables whose columns are those of a table of the lake, in three forms."""
