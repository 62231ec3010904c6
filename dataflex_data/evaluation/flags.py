"""What a reader must know about the data, whoever found it."""

from __future__ import annotations

from dataclasses import dataclass

Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that is kept in every report.

    Attributes:
        kind: ``dropped_run``, ``dropped_seed``, ``incomplete_seeds``, ``absent_methods``,
            ``absent_mechanism``, ``item_count``, ``unused_ledger``, ``incomplete_process``,
            ``collapsed`` or ``no_variation``.
        group: The group; empty for all.
        method: The method it concerns, or several joined by ``", "``.
        seed: The seed, or ``None`` where all are concerned.
        benchmark: The benchmark, or ``""``.
        detail: One sentence.
    """

    kind: str
    group: Group
    method: str
    seed: int | None
    benchmark: str
    detail: str
