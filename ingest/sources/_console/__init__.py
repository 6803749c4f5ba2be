"""Formats of lines in console logs, and what they share."""
