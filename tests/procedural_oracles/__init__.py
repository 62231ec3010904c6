"""Second routes to answers of procedural problems: brute force, other formulas and tables."""
