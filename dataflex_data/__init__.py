"""Data scheduling for RLVR: verified corpora, audits, samplers, policies and evaluation for verl.

Importing the package pulls in neither torch, verl nor ray.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
