"""Scorers, one file each, registered by name in `dataflex_data.policies.component`."""
