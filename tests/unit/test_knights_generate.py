"""Quotas, shortfalls, exclusion and parameters of the generator."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dataflex_data.builders.knights.exclude import excluded_forms
from dataflex_data.builders.knights.generate import (
    PuzzlePlan,
    check_by_text,
    draw,
    generate,
    put_into_words,
    share_out,
)
from dataflex_data.builders.knights.render import Renderer
from dataflex_data.builders.knights.stream import PuzzleStream
from dataflex_data.builders.source import SOURCES, Candidate, Drop, GenerationRequest
from dataflex_data.builders.sources.knights_and_knaves import (
    KnightsAndKnaves,
    KnightsParams,
    PublishedKnightsAndKnaves,
    PublishedParams,
)
from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, DataflexError, InputDataError, ShortfallError
from dataflex_data.core.splits import split_of


def people_of(candidates: object) -> Counter[int]:
    assert isinstance(candidates, list)
    return Counter(candidate.n_people for candidate in candidates)


def test_share_out_gives_largest_remainders_first() -> None:
    # 10 in shares 1:1:1 is 3 1/3 each; the odd one goes to the smallest key.
    assert share_out(10, {4: 1, 3: 1, 5: 1}) == {4: 3, 3: 4, 5: 3}
    # 7 in shares 1:2.5 is 2 and 5.
    assert share_out(7, {2: 1, 3: 2.5}) == {2: 2, 3: 5}
    # 8 in shares 1:2.5 is 2.29 and 5.71.
    assert share_out(8, {2: 1, 3: 2.5}) == {2: 2, 3: 6}
    assert share_out(0, {2: 1}) == {2: 0}
    assert share_out(5, {}) == {}


def test_quotas_are_exact_where_the_grammar_has_enough() -> None:
    made = generate(PuzzlePlan(1, {3: 1, 5: 2}), {"train": 60, "validation": 6})
    assert people_of(made.candidates_by_split["train"]) == {3: 20, 5: 40}
    assert people_of(made.candidates_by_split["validation"]) == {3: 2, 5: 4}
    assert made.notes == []
    for split, candidates in made.candidates_by_split.items():
        assert {split_of(candidate.canonical) for candidate in candidates} == {split}


def test_shortfall_of_two_people_is_named_and_spread() -> None:
    # 26 puzzles at 2 people (test_knights_counts); those on the train side are what there is.
    forms = [f for lot in PuzzleStream(9, 2, 2, 2) for f in lot.forms]
    there = sum(split_of(form) == "train" for form in forms)
    made = generate(PuzzlePlan(9, {2: 1, 3: 1, 4: 1}), {"train": 300})
    # 100 each; 100 - there are missing at 2 people and go to 3 and 4, the odd one to 3.
    missing = 100 - there
    assert people_of(made.candidates_by_split["train"]) == {
        2: there,
        3: 100 + missing - missing // 2,
        4: 100 + missing // 2,
    }
    (note,) = made.notes
    assert f"2 people: 100 different puzzles wanted for train, {there} there" in note
    assert "the grammar has 26 in all" in note


def test_shortfall_is_refused_on_request_and_when_nobody_can_help() -> None:
    with pytest.raises(ShortfallError, match=r"2 people: 50 .*wanted(.|\n)*on_shortfall"):
        generate(PuzzlePlan(9, {2: 1, 3: 1}, spread_shortfall=False), {"train": 100})
    with pytest.raises(ShortfallError, match=r"never more than 38"):
        generate(PuzzlePlan(9, {2: 1}), {"train": 100})
    # All that 2 and 3 people have (26 and 1,321, test_knights_counts) on the train side.
    there = [
        sum(split_of(f) == "train" for lot in PuzzleStream(9, n, 2, 2) for f in lot.forms)
        for n in (2, 3)
    ]
    listed = f"{sum(there)} there: {there[0]} of 2 people, {there[1]} of 3 people"
    with pytest.raises(ShortfallError, match=rf"{listed}(.|\n)*`depth: 3`"):
        generate(PuzzlePlan(9, {2: 1, 3: 1}), {"train": 2000})
    assert len(generate(PuzzlePlan(9, {2: 1, 3: 1}), {"train": sum(there)}).notes) == 1


def test_more_rows_or_other_people_move_nothing() -> None:
    few = generate(PuzzlePlan(3, {5: 1}), {"train": 20})
    more = generate(PuzzlePlan(3, {4: 1, 5: 1}), {"train": 80, "validation": 8})
    fives = [c for c in more.candidates_by_split["train"] if c.n_people == 5]
    assert fives[:20] == few.candidates_by_split["train"]


def test_another_seed_gives_other_puzzles() -> None:
    first, second = (generate(PuzzlePlan(seed, {6: 1}), {"train": 50}) for seed in (1, 2))
    texts = [{c.question for c in made.candidates_by_split["train"]} for made in (first, second)]
    assert not texts[0] & texts[1]


def test_excluded_files_keep_their_puzzles_out(tmp_path: Path) -> None:
    first = generate(PuzzlePlan(4, {3: 1}), {"train": 200}).candidates_by_split["train"]
    quizzes = tmp_path / "quizzes.jsonl"
    quizzes.write_text("".join(json.dumps({"quiz": c.question}) + "\n" for c in first[:120]))
    corpus = tmp_path / "corpus.jsonl"
    extra = [{"n_people": c.n_people, "raw_question": c.question} for c in first[120:]]
    extra.append({"n_people": -1, "raw_question": "1 + 1?"})
    corpus.write_text("".join(json.dumps({"extra_info": e}) + "\n" for e in extra))
    source = KnightsAndKnaves(
        parse_config(
            KnightsParams, {"people": [3], "exclude": [str(quizzes), "corpus.jsonl"]}, "test"
        )
    )
    source.base = tmp_path
    made = source.generate(GenerationRequest(4, {"train": 200}))
    assert [note.split(" (")[0] for note in made.notes] == ["quizzes.jsonl", "corpus.jsonl"]
    assert "its 120 puzzles" in made.notes[0]
    forms = {c.canonical for c in made.candidates_by_split["train"]}
    assert len(forms) == 200
    assert not forms & {c.canonical for c in first}
    assert made.dropped["excluded_form"] >= 200


def test_rows_that_the_corpus_has_already_are_not_made_again() -> None:
    source = KnightsAndKnaves(KnightsParams(people=(4,)))
    first = source.generate(GenerationRequest(4, {"train": 30}))
    have = {c.canonical for c in first.candidates_by_split["train"]}
    second = source.generate(GenerationRequest(4, {"train": 30}, exclude_identities=have))
    assert not have & {c.canonical for c in second.candidates_by_split["train"]}


def test_excluded_file_that_cannot_be_trusted_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    good = generate(PuzzlePlan(4, {3: 1}), {"train": 1}).candidates_by_split["train"][0]
    path.write_text(json.dumps({"quiz": good.question}) + "\n" + json.dumps({"quiz": "?"}) + "\n")
    with pytest.raises(InputDataError, match=r"test\.jsonl: row 2: .*no list of people"):
        excluded_forms(path)
    path.write_text(json.dumps({"question": "x"}) + "\n")
    with pytest.raises(InputDataError, match="no puzzle to exclude"):
        excluded_forms(path)


def test_a_text_that_says_something_else_is_caught() -> None:
    drawn = draw(PuzzlePlan(1, {4: 1}), {"train": 3})
    ((_, stream, puzzles),) = drawn.lots
    worded = put_into_words(1, Renderer(stream.pool.claims), puzzles)
    check_by_text(puzzles, worded)
    puzzles.solutions[1] ^= 1
    with pytest.raises(DataflexError, match="does not have the solution"):
        check_by_text(puzzles, worded)


def test_candidate_columns() -> None:
    made = generate(PuzzlePlan(2, {4: 1}, depth=3, width=3), {"train": 40})
    candidates = made.candidates_by_split["train"]
    assert max(c.statement_depth for c in candidates) == 3
    for c in candidates:
        assert c.n_people == 4
        assert c.question == c.raw_question
        assert c.gold == c.raw_answer
        assert c.gold.count(" is a ") == 4
        assert 0 <= c.difficulty <= 15


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"people": [1, 3]}, "1 is outside 2 to 16"),
        ({"people": [3, 3]}, "twice"),
        ({"people": []}, "at least one"),
        ({"people": {3: 0}}, "positive"),
        ({"depth": 1}, "greater than or equal to 2"),
        ({"width": 9}, "less than or equal to 4"),
        ({"names": ["Jack", "Jackson"]}, "contained"),
        ({"names": ["Abel", "Bo"], "people": [3]}, "too few"),
        ({"on_shortfall": "ignore"}, "on_shortfall"),
        ({"pepole": [3]}, "did you mean 'people'"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, object], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        parse_config(KnightsParams, params, "source knights_and_knaves")


def test_people_with_shares() -> None:
    params = parse_config(KnightsParams, {"people": {3: 1, 4: 0.5}}, "test")
    assert params.weights == {3: 1.0, 4: 0.5}


QUIZ = (
    'Knights speak truly, knaves falsely. You see two: Ada and Bo. Ada says, "Bo is a knave if and '
    'only if Ada is a knight." Bo says, "Ada is a knave." Who is what?'
)  # solved in test_knights_puzzles: Ada is a knight, Bo a knave


def published(**changes: object) -> Candidate | Drop:
    record: dict[str, object] = {
        "quiz": QUIZ,
        "names": ["Ada", "Bo"],
        "solution": [True, False],
        "solution_text": "Ada is a knight, and Bo is a knave.",
    }
    params = changes.pop("params", PublishedParams())
    assert isinstance(params, PublishedParams)
    return PublishedKnightsAndKnaves(params).parse({**record, **changes})


def test_published_row_is_parsed() -> None:
    row = published()
    assert isinstance(row, Candidate)
    assert row.gold == "Ada is a knight, and Bo is a knave."
    assert (row.n_people, row.statement_depth, row.difficulty) == (2, 2, 0.0)
    assert SOURCES.get("knights_and_knaves_published") is PublishedKnightsAndKnaves


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"quiz": None}, "empty_question"),
        ({"solution": []}, "empty_gold"),
        ({"solution": [True, True]}, "solution_differs_from_text"),
        ({"names": ["Bo", "Ada"]}, "names_differ_from_text"),
        ({"quiz": QUIZ.replace("Bo says", "She says")}, "unreadable_puzzle"),
        ({"quiz": QUIZ.replace("Bo is a knave if and only if Ada is a knight", "Bo is a knave")},
         "several_solutions"),
        ({"quiz": QUIZ.replace("Bo is a knave if and only if Ada is a knight", "Bo is a knight")},
         "no_solution"),
        ({"params": PublishedParams(people=(3,))}, "people_not_wanted"),
    ],
)  # fmt: skip
def test_published_row_is_dropped_with_its_reason(changes: dict[str, object], reason: str) -> None:
    # "Bo is a knave" / "Ada is a knave" fits either way round; "Bo is a knight" / "Ada is a knave"
    # fits neither: Ada a knight makes Bo a knight who lies, a knave makes Bo a knave who does not.
    row = published(**changes)
    assert isinstance(row, Drop)
    assert row.reason == reason
