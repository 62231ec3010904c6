"""Adapters to the frameworks that host us: the only place that may import verl or ray."""
