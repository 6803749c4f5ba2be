"""Raw telemetry in, tables of the lake out."""
