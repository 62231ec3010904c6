"""Same seed, same bytes, in any process; ids and forms unique; the form decides the split."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from dataflex_data.builders.source import Generation, GenerationRequest
from dataflex_data.builders.sources.knights_and_knaves import KnightsAndKnaves, KnightsParams
from dataflex_data.core.splits import VALIDATION_SHARE, split_of

REQUEST = GenerationRequest(seed=11, count_by_split={"train": 210, "validation": 21})


def made() -> Generation:
    return KnightsAndKnaves(KnightsParams()).generate(REQUEST)


def digest() -> str:
    """Return one hash over everything that a build would write."""
    generation = made()
    lines = [
        repr((split, candidate))
        for split, candidates in generation.candidates_by_split.items()
        for candidate in candidates
    ]
    lines.append(repr((sorted(generation.dropped.items()), list(generation.notes))))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_same_bytes_whatever_the_hash_seed() -> None:
    code = "from tests.contract.test_knights_contract import digest; print(digest())"
    for hash_seed in ("0", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == digest()


def test_counts_ids_forms_and_splits() -> None:
    generation = made()
    rows = [
        (split, row) for split, found in generation.candidates_by_split.items() for row in found
    ]
    assert [sum(s == split for s, _ in rows) for split in ("train", "validation")] == [210, 21]
    assert len({row.source_id for _, row in rows}) == len(rows)
    assert len({row.canonical for _, row in rows}) == len(rows)
    assert all(split_of(row.canonical) == split for split, row in rows)


def test_about_one_form_in_twenty_is_for_validation() -> None:
    share = sum(split_of(f"form {number}") == "validation" for number in range(20_000)) / 20_000
    # Four standard errors of a share of 0.05 among 20,000.
    assert abs(share - VALIDATION_SHARE) < 4 * (0.05 * 0.95 / 20_000) ** 0.5
