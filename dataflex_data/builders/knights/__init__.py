"""Knights and Knaves: draw, solve, recognise, word and read back puzzles (docs/knights_and_knaves).

A puzzle has one statement per person; knights say what is true, knaves what is false, and exactly
one assignment of roles fits. `generate` is the entry; the other modules are its steps.
"""
