"""One name for all puzzles that are the same: under renaming, and under rewording of a statement.

Two puzzles are the same when some renaming of the people turns each statement of one into a
statement that is true in the same cases: "A and B" is "B and A", "not a knight" is "a knave", "if
A then B" is "not A, or B". So a statement counts by its truth table over the people that matter to
it, and what is left is to order the people in a way that no renaming changes. Colours do that:
everyone starts alike, and is told apart by what they say and what is said of them, in rounds, until
all differ or nothing more changes. People still alike are singled out one after the other, and the
least form of all those ways is taken. The form is exact: hashes only order, they never decide.

The form's text (`FORM_VERSION`) decides splits, so it is pinned by a golden test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataflex_data.builders.knights.grammar import U8Array
from dataflex_data.builders.knights.solver import Batch, IntArray
from dataflex_data.core.seeding import U64Array, splitmix64

FORM_VERSION = "kk1"

_ABSENT = 255  # sorts after every person
# Odd constants that keep roles apart in sums of hashes (digits of pi).
_FALSE, _TRUE, _OWN, _SAYS, _SINGLED = (
    np.uint64(c)
    for c in (
        0x243F6A8885A308D3,
        0x13198A2E03707345,
        0xA4093822299F31D1,
        0x082EFA98EC4E6C89,
        0x452821E638D01377,
    )
)


@dataclass(frozen=True, slots=True)
class Forms:
    """Canonical forms of a batch.

    Attributes:
        texts: For each puzzle its form, such as ``kk1:1=1/0,1=6``: for each person in canonical
            order, the people that matter to their statement, and its truth table in hexadecimal
            (bit ``a`` is its truth where bit ``j`` of ``a`` makes the j-th of them a knight).
        orders: The people in canonical order, shape ``(B, n)``.
    """

    texts: list[str]
    orders: IntArray


def canonical_forms(batch: Batch) -> Forms:
    """Return the form of each puzzle; equal exactly where two puzzles are the same."""
    owners = np.arange(len(batch))
    colours = np.full(batch.people.shape[:2], _OWN, dtype=np.uint64)
    texts: list[str] = [""] * len(batch)
    orders = np.tile(np.arange(batch.n_people), (len(batch), 1))
    while len(owners):
        copies = batch.take(owners)
        colours = _refined(copies, colours)
        ranks = np.argsort(colours, axis=1, kind="stable")
        ordered = np.take_along_axis(colours, ranks, axis=1)
        alike = ordered[:, 1:] == ordered[:, :-1]
        done = ~alike.any(axis=1)
        finished = form_texts(copies.take(done), ranks[done])
        for owner, text, order in zip(owners[done].tolist(), finished, ranks[done], strict=True):
            if not texts[owner] or text < texts[owner]:
                texts[owner], orders[owner] = text, order
        owners, colours = _singled_out(
            copies.take(~done), owners[~done], colours[~done], ordered[~done]
        )
    return Forms(texts, orders)


def form_texts(batch: Batch, orders: IntArray) -> list[str]:
    """Return each puzzle's text with its people in the given order."""
    if not len(batch):
        return []
    rows = _ordered_bytes(batch, orders)
    tokens = _Tokens(batch.slots)
    statements = rows.view(f"V{rows.shape[2]}")[:, :, 0].tolist()
    return [f"{FORM_VERSION}:" + "/".join(map(tokens.__getitem__, said)) for said in statements]


class _Tokens(dict[bytes, str]):
    """Text of a statement by its bytes, made at first use."""

    def __init__(self, slots: int) -> None:
        super().__init__()
        self._slots = slots

    def __missing__(self, row: bytes) -> str:
        people = [str(person) for person in row[: self._slots] if person != _ABSENT]
        table = int.from_bytes(row[self._slots :], "little")
        token = self[row] = f"{','.join(people)}={table:x}"
        return token


def _ordered_bytes(batch: Batch, orders: IntArray) -> U8Array:
    """Return ``(B, n, K + table bytes)``, speakers and the people of statements by their places."""
    size, n = batch.slots, batch.n_people
    places = np.full((len(batch), n + 1), _ABSENT, dtype=np.int64)
    np.put_along_axis(places, orders, np.arange(n)[None], axis=1)
    people = np.take_along_axis(batch.people, orders[:, :, None], axis=1)
    tables = np.take_along_axis(batch.tables, orders[:, :, None], axis=1)
    placed = np.take_along_axis(places, people.reshape(len(batch), -1), axis=1).reshape(
        people.shape
    )
    by_place = np.argsort(placed, axis=2, kind="stable")
    placed = np.take_along_axis(placed, by_place, axis=2)
    assignments = np.arange(1 << size)
    source = np.zeros(tables.shape, dtype=np.int64)
    for slot in range(size):
        source += (assignments >> slot & 1) << by_place[:, :, slot, None]
    bits = np.take_along_axis(tables, source, axis=2)
    packed = np.packbits(bits, axis=2, bitorder="little")
    rows: U8Array = np.concatenate([placed.astype(np.uint8), packed], axis=2)
    return np.ascontiguousarray(rows)


def _refined(batch: Batch, colours: U64Array) -> U64Array:
    """Return colours after as many rounds as tell more people apart.

    When to stop depends on the puzzle alone, never on its names or its batch.
    """
    colours = colours.copy()
    active = np.arange(len(batch))
    counts = _distinct(colours)
    while len(active):
        new = _round(batch.take(active), colours[active])
        colours[active] = new
        told = _distinct(new)
        goes_on = (told > counts[active]) & (told < batch.n_people)
        counts[active] = told
        active = active[goes_on]
    return colours


def _distinct(colours: U64Array) -> IntArray:
    ordered = np.sort(colours, axis=1)
    count: IntArray = 1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return count


def _round(batch: Batch, colours: U64Array) -> U64Array:
    """Return each person's colour mixed with what they say and with what is said of them.

    A statement is seen as the set of its true cases, a case as the set of (colour, role) pairs:
    sums of hashes, so that neither the order of slots nor that of statements counts.
    """
    rows, n, size = batch.people.shape
    padded = np.concatenate([colours, np.zeros((rows, 1), dtype=np.uint64)], axis=1)
    seen = np.take_along_axis(padded, batch.people.reshape(rows, -1), axis=1).reshape(rows, n, size)
    is_own = batch.people == np.arange(n)[None, :, None]
    seen = np.where(is_own, seen ^ _OWN, seen)
    used = batch.people < n
    as_knave = np.where(used, splitmix64(seen ^ _FALSE), np.uint64(0))
    as_knight = np.where(used, splitmix64(seen ^ _TRUE), np.uint64(0))
    cases = np.zeros((rows, n, 1), dtype=np.uint64)
    for slot in range(size):
        cases = np.concatenate(
            [cases + as_knave[:, :, slot, None], cases + as_knight[:, :, slot, None]], axis=2
        )
    true_cases = splitmix64(cases) * batch.tables
    says = true_cases.sum(axis=2)
    heard = np.empty((rows, n, size), dtype=np.uint64)
    for slot in range(size):
        halves = true_cases.reshape(rows, n, -1, 2, 1 << slot)
        knight_cases = halves[:, :, :, 1].sum(axis=(2, 3))
        heard[:, :, slot] = knight_cases * _TRUE + (says - knight_cases) * _FALSE
    heard = splitmix64(heard + (colours * _SAYS)[:, :, None])
    received = np.stack(
        [np.where(batch.people == p, heard, np.uint64(0)).sum(axis=(1, 2)) for p in range(n)],
        axis=1,
    )
    return splitmix64(colours * _SINGLED + splitmix64(says ^ _SAYS) + received)


def _singled_out(
    batch: Batch, owners: IntArray, colours: U64Array, ordered: U64Array
) -> tuple[IntArray, U64Array]:
    """Return copies of each puzzle, in each one other member of its first class singled out.

    Members that can change places with the first one and leave the puzzle as it is (twins) give
    the same forms as the first and are left out: ten people alike need not cost 10! copies.
    """
    if not len(batch):
        return owners, colours
    first = np.argmax(ordered[:, 1:] == ordered[:, :-1], axis=1)
    members = colours == np.take_along_axis(ordered, first[:, None], axis=1)
    rows, people = np.nonzero(members)
    leaders = np.argmax(members, axis=1)[rows]
    keep = (people == leaders) | ~_are_twins(batch.take(rows), leaders, people)
    rows, people = rows[keep], people[keep]
    copies = colours[rows]
    at = np.arange(len(rows))
    copies[at, people] = splitmix64(copies[at, people] ^ _SINGLED)
    return owners[rows], copies


def _are_twins(batch: Batch, first: IntArray, second: IntArray) -> npt.NDArray[np.bool_]:
    unchanged = np.tile(np.arange(batch.n_people), (len(batch), 1))
    swapped = unchanged.copy()
    at = np.arange(len(batch))
    swapped[at, first], swapped[at, second] = second, first
    same = _ordered_bytes(batch, unchanged) == _ordered_bytes(batch, swapped)
    return np.asarray(same.all(axis=(1, 2)))
