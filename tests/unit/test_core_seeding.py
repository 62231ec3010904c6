"""Keyed hashes are pinned: another value means every corpus and every sampler changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np

from dataflex_data.core.seeding import digest, hex_id, keyed_hash, splitmix64, stream


def test_digest_is_sha256_of_typed_length_prefixed_parts() -> None:
    # By hand from the definition: tag, decimal length, unit separator, data; ints as decimal text.
    framed = b"s5\x1forder" + b"i2\x1f42" + b"b1\x1f\x00"
    assert digest("order", 42, b"\x00") == hashlib.sha256(framed).digest()


def test_framing_keeps_neighbours_and_types_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest(1) != digest("1")
    assert digest("1") != digest(b"1")


def test_hex_id_and_keyed_hash_are_prefixes_of_the_digest() -> None:
    assert hex_id("x", length=16) == digest("x").hex()[:16]
    assert keyed_hash("x") == int.from_bytes(digest("x")[:8], "big")


def test_a_lone_surrogate_hashes() -> None:
    assert len(hex_id("\ud800")) == 32


def test_splitmix64_gives_the_published_first_outputs() -> None:
    # SplitMix64 seeded with 0 (Steele et al. 2014; the well-known test vector of its generator):
    # output k is the mix of k * golden gamma, so feed states 0, g, 2g.
    gamma = 0x9E3779B97F4A7C15
    states = np.array([(k * gamma) % 2**64 for k in range(3)], dtype=np.uint64)
    assert [int(value) for value in splitmix64(states)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]


def test_streams_are_named_and_repeatable() -> None:
    first = stream(1, "a").integers(0, 2**63, size=4)
    assert (first == stream(1, "a").integers(0, 2**63, size=4)).all()
    assert (first != stream(1, "b").integers(0, 2**63, size=4)).any()


def test_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "from dataflex_data.core.seeding import hex_id, stream\n"
        "print(hex_id('a', 1), stream(3, 'x').random())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "99")
    }
    assert len(outputs) == 1
