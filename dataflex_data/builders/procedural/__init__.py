"""Families of problems made on the spot: one group of families per file."""
