"""Hand-worked puzzles: solving, telling apart, difficulty, reading texts."""

from __future__ import annotations

import pytest

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.difficulty import branchings
from dataflex_data.builders.knights.exclude import forms_of
from dataflex_data.builders.knights.grammar import Claim, Leaf, Op, Puzzle, depth, statement
from dataflex_data.builders.knights.parse import parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import NAMES, gold_text, list_text, names_problem
from dataflex_data.builders.knights.solver import batch_of, solutions
from dataflex_data.core.errors import InputDataError


def knight(person: int) -> Leaf:
    return Leaf(person, True)


def knave(person: int) -> Leaf:
    return Leaf(person, False)


def both(*parts: Claim) -> Op:
    return Op("and", parts)


def either(*parts: Claim) -> Op:
    return Op("or", parts)


def puzzle(*claims: Claim) -> Puzzle:
    return Puzzle(tuple(statement(claim) for claim in claims))


def form(*claims: Claim) -> str:
    return forms_of([puzzle(*claims)])[0]


def hardness(*claims: Claim) -> int:
    batch = batch_of([puzzle(*claims)])
    return int(branchings(batch, canonical_forms(batch).orders)[0])


# 0: "1 and 2 are knights", 1: "0 is a knave", 2: "1 is a knave".
# If 0 were a knight, 1 and 2 would be knights, and 1 would say something false. So 0 is a knave;
# then 1 speaks the truth and is a knight; then 2 lies. Check 0's lie: 2 is a knave. One solution.
CHAIN = (both(knight(1), knight(2)), knave(0), knave(1))


def test_solution_of_a_hand_worked_puzzle() -> None:
    counts, numbers = solutions(batch_of([puzzle(*CHAIN)]))
    assert (counts.tolist(), numbers.tolist()) == ([1], [0b010])
    assert solve_by_joining(puzzle(*CHAIN)) == [0b010]


def test_no_solution_and_several_solutions_are_told_apart() -> None:
    # "I am a knave" fits nobody. "You are a knight", twice: both knights, or both knaves.
    liar = puzzle(knave(0), knight(0))
    mutual = puzzle(knight(1), knight(0))
    counts, numbers = solutions(batch_of([liar, mutual]))
    assert (counts.tolist(), numbers.tolist()) == ([0, 2], [-1, -1])
    assert (solve_by_joining(liar), solve_by_joining(mutual)) == ([], [0b00, 0b11])


@pytest.mark.parametrize("people", [6, 7, 12])
def test_solution_beyond_one_word(people: int) -> None:
    # Everyone says the next is a knave, the last says "I am a knight or the first is a knave":
    # roles alternate from the first. If the first is a knight, those in even places (from 0) are
    # knights. People even: the last is a knave whose claim (false or false) is false: fits. If the
    # first is a knave, the last is a knight and tells the truth: fits as well. So for people even
    # there are two; with "the first is a knight and I am one" instead, the first being a knight
    # makes the last a knave who lies: fits; the first being a knave makes the last a knight who
    # lies: does not. For people odd the last has the first's role: a knight makes the last's claim
    # true: fits; a knave makes it false: fits: two.
    last = both(knight(0), knight(people - 1))
    counts, numbers = solutions(
        batch_of([puzzle(*[knave(p + 1) for p in range(people - 1)], last)])
    )
    alternating = sum(1 << p for p in range(0, people, 2))
    if people % 2 == 0:
        assert (counts.tolist(), numbers.tolist()) == ([1], [alternating])
    else:
        assert (counts.tolist(), numbers.tolist()) == ([2], [-1])


def test_same_form_whatever_order_names_and_wording() -> None:
    reference = form(*CHAIN)
    assert form(both(knight(2), knight(1)), knave(0), knave(1)) == reference
    assert form(both(knight(1), knight(2)), Op("not", (knight(0),)), knave(1)) == reference
    # Renaming 0 -> 2, 1 -> 0, 2 -> 1: 0 says "2 is a knave", 1 says "0 is a knave".
    assert form(knave(2), knave(0), both(knight(0), knight(1))) == reference
    # not (1 knave or 2 knave) is (1 knight and 2 knight)
    assert form(Op("not", (either(knave(1), knave(2)),)), knave(0), knave(1)) == reference
    # A mention without bearing does not count: "0 is a knave, and 2 is a knight or a knave".
    idle = both(knave(0), either(knight(2), knave(2)))
    assert form(both(knight(1), knight(2)), idle, knave(1)) == reference


def test_other_form_where_another_person_speaks_or_is_spoken_of() -> None:
    reference = form(*CHAIN)
    assert form(both(knight(1), knight(2)), knave(0), knave(0)) != reference
    assert form(either(knight(1), knight(2)), knave(0), knave(1)) != reference
    assert form(Op("if", (knight(1), knight(2))), knave(0), knave(1)) != form(
        Op("if", (knight(2), knight(1))), knave(0), knave(1)
    )


def test_contraposition_is_the_same_form() -> None:
    plain = Op("if", (knight(1), knave(2)))
    turned = Op("if", (knight(2), knave(1)))
    assert form(plain, knave(0), knave(1)) == form(turned, knave(0), knave(1))


def test_two_cycles_of_three_are_not_one_cycle_of_six() -> None:
    # Colours alone cannot tell these apart: everyone says "my neighbour is a knave".
    ring = puzzle(*[knave((p + 1) % 6) for p in range(6)])
    pair = puzzle(*[knave(3 * (p // 3) + (p + 1) % 3) for p in range(6)])
    shuffled = puzzle(*[knave(q) for q in (2, 4, 5, 0, 3, 1)])  # 0>2>5>1>4>3>0: one ring again
    forms = forms_of([ring, pair, shuffled])
    assert forms[0] == forms[2]
    assert forms[0] != forms[1]


def test_people_alike_do_not_explode() -> None:
    # 13 people who all say the same of the first: 13! orders, one form.
    crowd = puzzle(knave(1), *[knave(0)] * 13)
    assert forms_of([crowd])[0].count("/") == 13


def test_plain_reasoning_needs_no_branching() -> None:
    # 0: "1 is a knave exactly if I am a knight". A knight: 1 is a knave. A knave: the claim is
    # false, so "1 is a knave" and "0 is a knight" differ, so 1 is a knave. Either way, 1 is; that
    # is one statement on its own. Then 1's claim "0 is a knave" is false, so 0 is a knight.
    assert hardness(Op("iff", (knave(1), knight(0))), knave(0)) == 0


def test_one_branching() -> None:
    # CHAIN: alone, 0's statement fits (knight; knight, knight) and three ways of being a knave;
    # 1's and 2's fit two ways each. Nothing is forced, so branch. On 0: knight forces 1 knight and
    # a contradiction; knave forces 1 knight, 2 knave. One branching closes everything.
    assert hardness(*CHAIN) == 1


def test_two_chains_need_two_branchings() -> None:
    # CHAIN twice, on people 0-2 and 3-5: no statement joins them, so one branching each.
    second = (both(knight(4), knight(5)), knave(3), knave(4))
    # The first branching closes one case and settles its chain in the other; the second likewise.
    assert hardness(*CHAIN, *second) == 2


def test_depth_counts_a_leaf_as_one() -> None:
    assert depth(knight(0)) == 1
    assert depth(Op("not", (knight(0),))) == 2
    assert depth(both(knight(0), Op("not", (knight(1),)))) == 3


OPENING = "Knights speak truly, knaves falsely. You see these: Ada, Bo, and Cy."


def test_every_way_of_speaking_is_read() -> None:
    text = (
        f'{OPENING} Ada said, "Bo is a knight and Cy is a knight." According to Bo, "Ada is a '
        'knave". "Bo is not a knight," Cy declared. Who is what?'
    )
    read = parse_quiz(text)
    assert read.names == ("Ada", "Bo", "Cy")
    assert read.puzzle == puzzle(CHAIN[0], CHAIN[1], Op("not", (knight(1),)))
    for other in (
        "Ada told you that Bo is a knight and Cy is a knight.",
        '"Bo is a knight and Cy is a knight" - Ada.',
        'In Ada\'s words: "Bo is a knight and Cy is a knight".',
    ):
        again = text.replace('Ada said, "Bo is a knight and Cy is a knight."', other)
        assert parse_quiz(again) == read


def test_brackets_and_negations_are_read() -> None:
    text = (
        f'{OPENING} Ada says: "It is not the case that (if Bo is a knight then (Cy is a knave or '
        'Ada is not a knave))." Bo says: "Ada is a knave if and only if Cy is a knight." Cy claims '
        "that it is not the case that (Ada is a knight and Bo is a knight and Cy is a knave). Well?"
    )
    assert parse_quiz(text).puzzle == puzzle(
        Op("not", (Op("if", (knight(1), either(knave(2), Op("not", (knave(0),))))),)),
        Op("iff", (knave(0), knight(2))),
        Op("not", (both(knight(0), knight(1), knave(2)),)),
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (": Ada, Bo, and Cy.", ".", "no list of people"),
        ("Bo, and Cy.", "Bo, and Ada.", "names a person twice"),
        ("Ada says", "Somebody says", "no single speaker"),
        ("Ada says", "Ada and Bo say", "no single speaker"),
        ("Cy claims", "Bo claims", "two statements of Bo"),
        (" Cy claims that Bo is a knave.", "", "no statement of Cy"),
        ("Ada is a knave", "Di is a knave", "speaks of 'Di', who is not introduced"),
        ("Ada is a knave", "Ada is a wizard", "expected 'knave', found 'wizard'"),
        ("Ada is a knave", "Ada is a knave or", "expected '@', found 'the end'"),
        ("Ada is a knave", "Ada is a knave or Cy is a knight and Ada is a knight", "'and'"),
        ("Who?", "Dot.", "neither a statement nor the question"),
    ],
)
def test_what_cannot_be_read_is_named(old: str, new: str, complaint: str) -> None:
    text = (
        f'{OPENING} Ada says: "Bo is a knight and Cy is a knight." Bo says: "Ada is a knave." '
        "Cy claims that Bo is a knave. Who?"
    )
    assert solve_by_joining(parse_quiz(text).puzzle) == [0b010]
    with pytest.raises(InputDataError, match=complaint):
        parse_quiz(text.replace(old, new))


def test_gold_and_lists_of_names() -> None:
    assert gold_text(["Emma", "Liam"], 0b01) == "Emma is a knight, and Liam is a knave."
    assert gold_text(["A", "B", "C"], 0b101) == "A is a knight, B is a knave, and C is a knight."
    assert list_text(["A", "B"]) == "A and B"
    assert list_text(["A", "B", "C"]) == "A, B, and C"


def test_names_are_told_apart() -> None:
    assert names_problem(NAMES) is None
    assert all(name.isascii() for name in NAMES)
    assert names_problem(["Zoë", "Łukasz", "Ольга"]) is None
    assert "contained in" in str(names_problem(["Jack", "Jackson"]))
    assert "word of the puzzles' texts" in str(names_problem(["Today", "Bo"]))
    assert "capitalised" in str(names_problem(["Mary Ann", "Bo"]))
