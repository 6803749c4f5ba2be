"""Drawings: frames of a few rows in, Vega-Lite out. Nothing is computed here."""
