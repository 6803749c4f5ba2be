"""Pages that are sent on: charts, words and dollars."""
