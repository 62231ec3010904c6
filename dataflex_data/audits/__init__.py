"""Audits: what a corpus shares with evaluation benchmarks, and with itself."""
