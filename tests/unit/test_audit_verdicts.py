"""Verdicts and numbers of single pairs, worked by hand; and reports from users of other tools."""

from __future__ import annotations

from typing import Any

import pytest

from dataflex_data.audits.benchmarks import BenchmarkItem, BenchmarkSet, LoadedBenchmark
from dataflex_data.audits.comparison import CHANNELS, Channel, Rule
from dataflex_data.audits.contamination import Auditor, Decontaminator
from dataflex_data.audits.findings import Finding
from dataflex_data.audits.minhash import band_recall, check_scheme, minhash_finder, scheme
from dataflex_data.audits.pair_page import marked
from dataflex_data.audits.planted import planted_recall
from dataflex_data.audits.summary import LIMITS
from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, StateError

# Words no two of which are equal, so that each 13-word run of them is different.
W = [f"w{number}" for number in range(400)]


def text(first: int, last: int) -> str:
    return " ".join(W[first:last])


def bench(*items: str | tuple[str, tuple[str, ...]], gated: bool = False) -> BenchmarkSet:
    made = []
    for number, item in enumerate(items):
        question, options = item if isinstance(item, tuple) else (item, ())
        made.append(BenchmarkItem("toy", str(number), question, options, gated=gated))
    return BenchmarkSet((LoadedBenchmark("toy", tuple(made), {}, "local", "local", "MIT", gated),))


def flag(
    row: str,
    *items: str | tuple[str, tuple[str, ...]],
    rule: Rule | None = None,
    options: tuple[str, ...] = (),
) -> Finding | None:
    return Decontaminator(bench(*items), rule).flag([row], [options])[0]


def test_a_copy_inside_a_longer_prompt_escapes_jaccard_and_not_containment() -> None:
    # Item: 25 words, 13 n-grams. Row: 20 + 25 + 20 = 65 words, 53 n-grams, 13 of them shared.
    # J = 13 / (53 + 13 - 13) = 13/53; the row holds 13/13 of the item.
    found = flag(f"{text(100, 120)} {text(0, 25)} {text(120, 140)}", text(0, 25))
    assert found is not None
    assert (found.jaccard, found.containment) == (13 / 53, 1.0)
    assert found.row_containment == 13 / 53
    assert (found.channel, found.longest_run, found.item_words) == ("containment", 25, 25)
    assert (found.unique, found.shared, found.boilerplate) == (13, 0, 0)
    assert found.overlap == text(0, 25)


def test_one_word_edited_in_the_middle() -> None:
    # 40 words, 28 n-grams; word 20 changed kills the 13 n-grams over it: 15 shared, 28 each.
    row = f"{text(0, 20)} other {text(21, 40)}"
    found = flag(row, text(0, 40))
    assert found is not None
    assert found.jaccard == 15 / (28 + 28 - 15)
    assert found.containment == 15 / 28
    assert found.channels == ("containment",)


@pytest.mark.parametrize(("shared", "flagged"), [(26, True), (25, False)])
def test_the_containment_threshold_is_inclusive(shared: int, flagged: bool) -> None:
    # Item: 40 words, 28 n-grams. A row with its first 26 words holds 14 of them, 14/28 = 0.5.
    found = flag(f"{text(0, shared)} {text(200, 260)}", text(0, 40))
    assert (found is not None) == flagged


@pytest.mark.parametrize(
    ("tail", "jaccard", "flagged"), [(14, 14 / 28, False), (13, 14 / 27, True)]
)
def test_the_jaccard_threshold_is_strict(tail: int, jaccard: float, flagged: bool) -> None:
    # Row = item (26 words, 14 n-grams) and a tail: every tail word adds one n-gram.
    rule = Rule(channels=("jaccard",))
    row = f"{text(0, 26)} {text(200, 200 + tail)}"
    assert (flag(row, text(0, 26), rule=rule) is not None) == flagged
    finding = flag(row, text(0, 26))
    assert finding is not None
    assert finding.jaccard == jaccard


def test_exact_and_normalised_are_told_apart() -> None:
    item = "Find the least prime p, with p > 10. Say why it is the least of all, please!"
    exact = flag(item, item)
    assert exact is not None
    assert exact.channel == "exact"
    other = flag(item.upper().replace(" ", "  "), item)
    assert other is not None
    assert other.channel == "normalised"
    assert "exact" not in other.channels


def test_latex_spelling_hides_an_item_from_the_plain_channels_only() -> None:
    item = r"Compute $\frac{1}{2}+\frac{3}{4}+\frac{5}{6}+\frac{7}{8}+\frac{9}{10}$ as one fraction"
    row = (
        r"Compute $\dfrac12+\dfrac34+\tfrac{5}{6}+\dfrac78+\left(\frac{9}{10}\right)$ "
        "as one fraction"
    )
    found = flag(row, item)
    assert found is not None
    assert found.channel == "latex"
    assert (found.jaccard, found.latex_jaccard) == (0.0, 1.0)


def test_options_in_another_order_are_found_by_the_stem() -> None:
    options = ("the first of them", "the second of them", "the third of them")
    found = flag(text(0, 20), (text(0, 20), options), options=options[::-1])
    assert found is not None
    assert "stem" in found.channels


def test_a_short_stem_counts_with_its_options_only() -> None:
    item = ("Which of these is a prime number?", ("twenty one", "thirty one", "fifty one"))
    same = flag(item[0], item, options=("fifty one", "thirty one", "twenty one"))
    assert same is not None
    assert flag(item[0], item, options=("two", "four", "eight")) is None
    assert flag(item[0], item) is not None  # the options were left out: the same question


def test_short_items_are_found_as_a_run_or_by_equality() -> None:
    # marin#5519: 54 % recall of verbatim copies, since items are shorter than the n-gram.
    item = "How many divisors does 196 have?"
    found = flag(f"Solve this now. {item} Show {text(0, 30)}", item)
    assert found is not None
    assert (found.channel, found.longest_run) == ("short_run", 6)
    assert flag(f"{text(0, 9)} how many divisors does 195 have {text(9, 20)}", item) is None
    tiny = "What is $1+1$?"  # four words: equality only
    assert flag(f"Say: {tiny}", tiny) is None
    assert flag("what is 1 + 1", tiny) is not None


def test_texts_without_an_n_gram_are_no_duplicates_of_each_other() -> None:
    # DataFlow#526, bigcode-dataset#35, text-dedup#77: an empty signature equals any other.
    judge = Decontaminator(bench("Name it.", "Prove that.", "", "+"))
    assert judge.flag(["Other words here.", "", "   ", "-", "Prove this."]) == [None] * 5
    assert judge.flag(["+"])[0] is not None


def test_empty_and_one_word_texts_raise_nothing() -> None:
    # data-juicer#1051: ValueError on an empty text.
    for finder in (None, minhash_finder):
        auditor = Auditor(bench(text(0, 30), ""), Rule(), finder)
        import pyarrow as pa

        found = auditor.finder().scan(pa.array(["", "one", None, "\u0301", text(0, 30)]))
        assert set(found.rows.tolist()) == {4}


def test_a_shared_template_flags_nothing_and_the_right_item_is_named() -> None:
    # marin#6852: template false positives, and a wrong item named. Opening: 40 words, 28 n-grams;
    # items 58 words, 46; row 60 words, 48: J = 28 / (46 + 48 - 28) = 0.42.
    opening = text(0, 40)
    items = [f"{opening} {text(100 + 20 * k, 118 + 20 * k)}" for k in range(8)]
    judge = Decontaminator(bench(*items))
    assert judge.flag([f"{opening} {text(300, 320)}"]) == [None]
    hit = judge.flag([items[5]])[0]
    assert hit is not None
    assert (hit.item_id, hit.channel, hit.boilerplate) == ("5", "exact", 28)


def test_an_item_of_template_text_alone_is_still_found_when_copied_whole() -> None:
    opening = text(0, 40)
    items = [f"{opening} {text(100 + 20 * k, 118 + 20 * k)}" for k in range(5)] + [opening]
    hit = Decontaminator(bench(*items)).flag([opening])[0]
    assert hit is not None
    assert hit.item_id == "5"


def test_a_prompt_stored_a_hundred_times_is_no_template() -> None:
    # marin#7051, DAPO#36: frequency in the corpus must not hide a leak; each copy is listed.
    found = Decontaminator(bench(text(0, 30), text(50, 80))).flag([text(0, 30)] * 100)
    assert all(one is not None and one.containment == 1.0 for one in found)


def test_an_item_stored_many_times_in_a_benchmark_is_no_template() -> None:
    found = flag(f"{text(200, 230)} {text(0, 30)}", *[text(0, 30)] * 32)
    assert found is not None
    assert found.boilerplate == 0


def test_short_wrapped_lines_are_one_text() -> None:
    row = "\n".join(text(start, start + 4) for start in range(0, 40, 4))
    assert flag(row, text(0, 40)) is not None


@pytest.mark.parametrize("edit", [True, False])
def test_a_threshold_of_exactly_one_works(edit: bool) -> None:
    # datasketch#243: a threshold of 1.0 raises.
    rule = Rule(containment=1.0, jaccard=1.0, channels=("containment", "jaccard"))
    row = text(0, 40) if not edit else f"{text(0, 39)} other"
    found = flag(row, text(0, 40), rule=rule)
    assert (found is not None) == (not edit)
    if found is not None:
        assert found.channels[-2:] == ("containment", "jaccard")


@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, float("nan")])
def test_thresholds_outside_zero_and_one_are_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="containment"):
        parse_config(Rule, {"containment": value}, "rule")


def test_changed_numbers_are_not_detected_and_the_report_says_so() -> None:
    # PromptCoT#8: AIME problems with other numbers. A known limit, told in every report.
    from dataflex_data.audits.summary import LIMITS

    item = "A train goes 60 miles in 2 hours; how far does it go in 5 hours at the same speed then"
    row = "A train goes 90 miles in 3 hours; how far does it go in 7 hours at the same speed then"
    assert flag(row, item) is None
    assert any("other numbers" in limit for limit in LIMITS)


def test_no_pair_below_the_threshold_is_returned_and_none_above_is_missed_by_minhash() -> None:
    # datasketch#105, #140, #200: pairs below the threshold returned, pairs above it missed.
    items = [text(0, 60)]
    auditor = Auditor(bench(*items), Rule(channels=("jaccard",), near=0.5), minhash_finder)
    from dataflex_data.audits.contamination import _memory_batch
    from dataflex_data.audits.corpus import Shard

    # 60 words, 48 n-grams; the row's first k words shared: k - 12 n-grams of 48 each.
    rows = [f"{text(0, k)} {text(100, 160 - k)}" for k in range(20, 61)]
    result = auditor.audit_batch(
        auditor.finder(), _memory_batch(rows, None, 0), Shard(0, "", 0, len(rows), (0, 0))
    )
    flagged = {one.row + 20 for one in result.findings if one.flagged}
    above = {k for k in range(20, 61) if (k - 12) / (96 - (k - 12)) > 0.5}
    assert flagged <= above
    assert {k for k in above if (k - 12) / (96 - (k - 12)) > 0.7} <= flagged
    assert band_recall(0.5) == pytest.approx(1 - (1 - 0.125) ** 42)


def test_signatures_of_another_scheme_are_refused() -> None:
    # datasketch#133: the hash function is not checked when signatures are compared.
    check_scheme(scheme(13), scheme(13))
    with pytest.raises(StateError, match="n 8 against 13"):
        check_scheme(scheme(13), scheme(8))


def test_gated_texts_are_hidden_but_the_finding_stays() -> None:
    found = Decontaminator(bench(text(0, 30), gated=True)).flag([text(0, 30)])[0]
    assert found is not None
    hidden = found
    assert hidden.flagged
    assert hidden.item_id == "0"
    shown = f"{hidden.row_text} {hidden.item_text} {hidden.overlap}"
    assert "w1" not in shown
    assert "gated" in shown


def test_the_page_marks_what_both_texts_share_and_escapes_the_rest() -> None:
    left, right = marked("<b> One two, THREE four five & six", "zero one two three four five.")
    assert left == "&lt;b&gt; <mark>One two, THREE four five</mark> &amp; six"
    assert right == "zero <mark>one two three four five</mark>."


def test_a_very_long_prompt_is_scanned_whole() -> None:
    row = "word " * 400_000 + text(0, 30)
    found = flag(row, text(0, 30))
    assert found is not None
    assert found.similarity is None
    assert len(found.row_text) == 20_000


@pytest.mark.parametrize(
    ("texts", "options", "error", "told"),
    [
        ("one text", None, TypeError, "got str"),
        (b"one text", None, TypeError, "got bytes"),
        (["a", None], None, TypeError, r"texts\[1\] must be a str, got NoneType"),
        ([5], None, TypeError, r"texts\[0\] must be a str, got int"),
        ([float("nan")], None, TypeError, "got float"),
        (["a"], ["xy"], TypeError, r"options\[0\] must be a list of str, got str"),
        (["a"], [["x", 2]], TypeError, r"options\[0\]\[1\] must be a str, got int"),
        (["a", "b"], [["x"]], ValueError, "1 for 2 texts"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(
    texts: Any, options: Any, error: type[Exception], told: str
) -> None:
    judge = Decontaminator(bench(text(0, 30)))
    with pytest.raises(error, match=told):
        judge.flag(texts, options)
    assert judge.summary()["rows_checked"] == 0


MOONS = ("Which planet has the most moons?", ("Saturn", "Mars", "Venus", "Jupiter"))


@pytest.mark.parametrize(
    "row",
    [
        "Question: Which planet has the most moons?\nAnswer:",
        "please Which planet has the most moons?",
        f"{text(0, 40)} WHICH planet has the most moons {text(40, 90)}",
    ],
)
def test_a_short_question_is_found_inside_a_prompt_without_its_options(row: str) -> None:
    found = flag(row, MOONS)
    assert found is not None
    assert (found.channel, found.longest_run) == ("stem", 6)


@pytest.mark.parametrize(
    ("row", "options", "item"),
    [
        # Other options are shown: another question.
        ("Which planet has the most moons?\nA) Earth\nB) Ceres", (), MOONS),
        ("Which planet has the most moons? Options: Earth, Ceres", (), MOONS),
        ("Now: which planet has the most moons?", ("Earth", "Ceres"), MOONS),
        # The question points to options that are not there.
        (
            "Say: which of the following is an acid?",
            (),
            ("Which of the following is an acid?", "ab"),
        ),
        ("Say: which statement is true here?", (), ("Which statement is true here?", "ab")),
        ("Tell me: what is it?", (), ("What is it?", "ab")),  # three words
    ],
)
def test_a_short_question_that_is_another_one_is_not_flagged(
    row: str, options: tuple[str, ...], item: tuple[str, Any]
) -> None:
    assert flag(row, (item[0], tuple(item[1])), options=options) is None


def test_each_figure_belongs_to_one_text_and_its_channel_goes_by_it() -> None:
    # Question 20 words, 8 n-grams; with two options of 20 words 60 words, 48 n-grams. The row is
    # the question: 8 of 48 with the item, 8 of 8 with its question.
    item = (text(0, 20), (text(20, 40), text(40, 60)))
    found = flag(text(0, 20), item)
    assert found is not None
    assert (found.jaccard, found.containment, found.item_words) == (8 / 48, 8 / 48, 60)
    assert (found.stem_jaccard, found.stem_containment) == (1.0, 1.0)
    assert (found.unique, found.shared, found.boilerplate) == (8, 0, 0)
    assert found.channels == ("exact", "normalised", "stem")
    whole = flag("\n".join((item[0], *item[1])), item)
    assert whole is not None
    assert (whole.jaccard, whole.containment) == (1.0, 1.0)
    assert whole.channels == ("exact", "normalised", "containment", "jaccard", "stem")


@pytest.mark.parametrize("channels", [(one,) for one in CHANNELS] + [("exact", "stem"), CHANNELS])
def test_the_rule_in_words_stands_by_itself(channels: tuple[Channel, ...]) -> None:
    told = Rule(channels=channels).in_words()
    assert told.startswith("a row is flagged where it ")
    assert "any of that" not in told
    assert told.count("; or ") == len(channels) - 1
    assert ("question without its options" in told) == ("stem" in channels)
    assert ("LaTeX" in told) == ("latex" in channels)


def test_the_planted_leaks_without_options_are_measured_by_the_length_of_the_question() -> None:
    # The first question is long, the second short and findable, the third points to its options.
    items = bench(
        (text(0, 20), ("one", "two")),
        MOONS,
        ("Which of these is an acid?", ("salt", "water")),
        text(50, 80),  # no options: nothing to leave out
    )
    bare = {one.disguise: one for one in planted_recall(Auditor(items, Rule()))}["bare"]
    assert (bare.planted, bare.found, bare.planted_short, bare.found_short) == (1, 1, 2, 1)


@pytest.mark.parametrize("sign", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u200d"])
def test_invisible_characters_inside_words_hide_no_copy(sign: str) -> None:
    item = text(0, 30)
    found = flag(sign.join(item), item)
    assert found is not None
    assert (found.channel, found.containment, found.jaccard) == ("normalised", 1.0, 1.0)


def test_look_alikes_of_another_script_hide_an_item_and_the_report_says_so() -> None:
    item = "a b c d e f g h i j k l m n o p"
    assert flag(item.replace("a", "\u0430").replace("h", "\u04bb"), item) is None
    assert any("look-alikes" in limit for limit in LIMITS)
