"""Pieces of the reader of Flight Recorder dumps."""
