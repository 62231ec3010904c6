"""The batch of one step: padding out, groups and domains numbered, tokens summed, keys drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_data.core import groups
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.groups import factorised, hashes, stable_order
from dataflex_data.core.rollout import RolloutBatch
from tests.policies_batch import batch_of, columns


def make(**fields: Any) -> RolloutBatch:
    given: dict[str, Any] = {"rewards": [0, 1], "uids": ["a", "b"], "lengths": [2, 3]}
    return RolloutBatch(**{**given, **fields})


class TestPadded:
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
    values = np.arange(16.0).reshape(4, 4)

    def batch(self, **more: Any) -> RolloutBatch:
        return RolloutBatch.from_padded(
            rewards=[0.0, 1.0, 9.0, 0.5],
            uids=["a", "a", "pad", "a"],
            response_mask=self.mask,
            real=[True, True, False, True],
            old_log_probs=self.values,
            **more,
        )

    def test_padding_rows_and_tokens_are_not_there(self) -> None:
        batch = self.batch()
        assert batch.lengths_B.tolist() == [2, 3, 0]
        assert batch.tokens("old_log_probs").tolist() == [0, 1, 4, 6, 7]
        assert batch.rows_B.tolist() == [0, 1, 3]
        assert batch.n_padding == 1
        assert len(batch.groups) == 1

    def test_back_to_a_matrix(self) -> None:
        batch = self.batch()
        matrix = batch.padded(batch.tokens("old_log_probs"))
        assert matrix.tolist() == [[0, 1, 0], [4, 6, 7], [0, 0, 0]]
        assert batch.response_mask.sum(axis=1).tolist() == [2, 3, 0]

    def test_token_rewards_are_summed_under_the_mask(self) -> None:
        rewards = np.zeros((2, 3))
        rewards[0, 1], rewards[1, 2] = 1.0, 5.0
        batch = RolloutBatch.from_padded(
            rewards=rewards, uids=["a", "b"], response_mask=[[1, 1, 0], [1, 1, 0]]
        )
        assert batch.rewards_B.tolist() == [1, 0]

    def test_advantages_per_response_or_per_token(self) -> None:
        whole = self.batch(advantages=[1.0, -2.0, 7.0, 3.0])
        assert whole.advantages_B.tolist() == [1, -2, 3]
        assert whole.tokens("advantages").tolist() == [1, 1, -2, -2, -2]
        each = self.batch(advantages=-self.values)
        # Means of 0, 1 and of 4, 6, 7; none for the response without tokens.
        assert each.advantages_B == pytest.approx([-0.5, -17 / 3, 0])
        assert each.abs_advantages_B == pytest.approx([0.5, 17 / 3, 0])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"uids": ["a"]}, "uid: 1 values for 2 responses"),
        ({"lengths": [1]}, "lengths: 1 values for 2 responses"),
        ({"lengths": [1, -1]}, "must not be negative, got -1"),
        ({"lengths": [1.5, 2.0]}, "whole numbers"),
        ({"rewards": ["x", "y"]}, "rewards: must be numbers"),
        ({"old_log_probs": [0.0] * 4}, "old_log_probs: 4 values for 5 tokens"),
        ({"advantages": [0.0] * 3}, r"one per response \(2\) or one per token \(5\)"),
        ({"extra": {"x": [1.0]}}, "x: 1 values for 2 responses"),
        ({"extra": {"rewards": [1.0, 2.0]}}, "name of a field"),
        ({"rewards": [[0.0], [1.0, 2.0]]}, "rewards: must be numbers"),
        ({"rewards": None}, "rewards: must be numbers"),
        ({"old_log_probs": [[0.0], [0.0] * 4]}, "old_log_probs: must be numbers"),
        ({"uids": [["a"], ["b", "c"]]}, "uid: must be one plain value per response"),
        ({"uids": "ab"}, "uid: must be one value per response, got 'ab'"),
        ({"uids": None}, "uid: must be one value per response"),
        ({"ids": ["x", "x"]}, "ids: 'x' stands for 2 responses"),
        ({"rows": [0, 0]}, "rows: 0 stands twice"),
        ({"rows": [0, -1]}, "rows must not be negative, got -1"),
        ({"rows": [0.5, 1.0]}, "rows must be whole numbers"),
        ({"n_padding": -2}, "n_padding must be at least 0, got -2"),
        ({"n_padding": 1.5}, "n_padding must be a whole number"),
        ({"group_size": 0}, "group_size must be at least 1"),
        ({"group_size": True}, "group_size must be a whole number"),
    ],
)
def test_fields_that_disagree(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InputDataError, match=words):
        make(**fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"response_mask": [[float("nan"), 1], [1, 1]]}, r"1 values are not finite, .* \[0, 0\]"),
        ({"response_mask": [[1], [1, 1]]}, "response_mask: must be numbers"),
        ({"response_mask": [1, 1]}, "response_mask must be a matrix"),
        ({"real": [1.0, float("nan")]}, "real must say yes or no everywhere"),
        ({"real": ["yes", "no"]}, "real: must be numbers"),
        ({"rewards": [[1.0], [0.0, 1.0]]}, "rewards: must be numbers"),
        ({"old_log_probs": [[1.0], [0.0, 1.0]]}, "old_log_probs: must be numbers"),
        ({"advantages": "no"}, "advantages: must be numbers"),
        ({"extra": {"x": [[1], [2, 3]]}}, "x: must be numbers"),
        ({"ids": [7, 7]}, "ids: '7' stands for 2 responses"),
    ],
)
def test_padded_fields_that_cannot_be(fields: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"rewards": [0, 1], "uids": ["a", "b"], "response_mask": [[1, 1]] * 2}
    with pytest.raises(InputDataError, match=words):
        RolloutBatch.from_padded(**{**given, **fields})


def test_an_id_of_a_padding_row_may_stand_twice() -> None:
    batch = RolloutBatch.from_padded(
        rewards=[0, 1, 0],
        uids=["a", "b", "b"],
        response_mask=[[1, 1]] * 3,
        real=[True, True, False],
        ids=["x", "y", "y"],
    )
    assert len(batch) == 2


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_tensors_of_any_float_with_or_without_a_gradient(name: str) -> None:
    torch = pytest.importorskip("torch")
    kind = getattr(torch, name)
    batch = RolloutBatch.from_padded(
        rewards=torch.tensor([0.5, 1.0], dtype=kind, requires_grad=True),
        uids=torch.tensor([3, 3]),
        response_mask=torch.tensor([[1, 1], [1, 0]]),
        advantages=torch.tensor([[0.25, 0.5], [2.0, 9.0]], dtype=kind, requires_grad=True),
        old_log_probs=torch.tensor([[-1.0, -2.0], [-4.0, -9.0]], dtype=kind),
    )
    assert batch.rewards_B.tolist() == [0.5, 1]
    assert batch.tokens("advantages").tolist() == [0.25, 0.5, 2]
    assert batch.tokens("old_log_probs").tolist() == [-1, -2, -4]
    flat = make(rewards=torch.tensor([0.5, 1.0], dtype=kind, requires_grad=True))
    assert flat.rewards_B.tolist() == [0.5, 1]


def test_what_is_not_there_is_named_with_near_matches() -> None:
    with pytest.raises(InputDataError, match=r"no field 'hardnes'; did you mean 'hardness'\?"):
        make(extra={"hardness": [1, 2]}).column("hardnes")
    with pytest.raises(InputDataError, match="no field 'entropy'"):
        make().tokens("entropy")
    with pytest.raises(InputDataError, match="no field 'advantages'"):
        _ = make().advantages_B


def test_per_response_skips_what_has_no_token() -> None:
    batch = make(rewards=[0] * 4, uids=list("abcd"), lengths=[0, 2, 0, 1])
    values = np.array([1.0, 5.0, 7.0])
    assert batch.per_response(values, "sum").tolist() == [0, 6, 0, 7]
    assert batch.per_response(values, "mean").tolist() == [0, 3, 0, 7]
    assert batch.per_response(values, "max").tolist() == [0, 5, 0, 7]
    assert batch.per_response(values, "min").tolist() == [0, 1, 0, 7]


def test_groups_in_order_of_appearance_with_ordinals() -> None:
    batch = make(rewards=range(6), uids=["b", "a", "b", "c", "a", "b"], lengths=[1] * 6)
    groups = batch.groups
    assert batch.uids_P.tolist() == ["b", "a", "c"]
    assert groups.of_B.tolist() == [0, 1, 0, 2, 1, 0]
    assert groups.sizes_P.tolist() == [3, 2, 1]
    assert groups.ordinal_B.tolist() == [0, 0, 1, 0, 1, 2]
    assert groups.sum(batch.rewards_B).tolist() == [0 + 2 + 5, 1 + 4, 3]
    found = {int(g): rows.tolist() for gs, m in groups.by_size() for g, rows in zip(gs, m)}  # noqa: B905
    assert found == {0: [0, 2, 5], 1: [1, 4], 2: [3]}


def test_domains_are_sorted_and_optional() -> None:
    batch = make(domains=["math", "logic"])
    assert batch.domain_names == ("logic", "math")
    assert batch.domain_B.tolist() == [1, 0]
    assert make().domain_names == ("all",)
    assert not make().has_domains


def test_take_is_the_batch_of_those_responses() -> None:
    fields = columns(uneven=True)
    batch = batch_of(fields)
    mask = np.random.default_rng(3).random(len(batch)) < 0.5
    part, direct = batch.take(mask), batch_of(fields, np.flatnonzero(mask))
    for name in ("rewards_B", "lengths_B", "advantages_B", "domain_B"):
        assert np.array_equal(getattr(part, name), getattr(direct, name))
    for name in ("old_log_probs", "entropy"):
        assert np.array_equal(part.tokens(name), direct.tokens(name))
    assert part.rows_B.tolist() == np.flatnonzero(mask).tolist()
    assert np.array_equal(part.groups.of_B, direct.groups.of_B)


def test_keys_are_pinned_and_follow_the_id() -> None:
    """A change of these numbers changes every tie and every matched control: a new version."""
    batch = make(ids=["x", "y"])
    swapped = make(uids=["b", "a"], ids=["y", "x"])
    assert batch.draw_keys_B("k", 1).tolist() == swapped.draw_keys_B("k", 1).tolist()[::-1]
    assert batch.draw_keys_P("k").tolist() == swapped.draw_keys_P("k").tolist()[::-1]
    assert len({*batch.draw_keys_B("k", 1), *batch.draw_keys_B("k", 2)}) == 4


class TestHashes:
    def test_every_path_gives_one_hash(self) -> None:
        short = np.array(["a", "prompt-17", ""], dtype=object)
        long = np.array([*short, "y" * 100], dtype=object)
        foreign = np.array([*short, "é"], dtype=object)
        assert hashes(short).tolist() == hashes(long)[:3].tolist() == hashes(foreign)[:3].tolist()

    def test_they_do_not_depend_on_the_process(self) -> None:
        import subprocess
        import sys

        script = (
            "import numpy as np; from dataflex_data.core.groups import hashes;"
            "print(hashes(np.array(['a', 'b' * 60], dtype=object)).tolist())"
        )
        outputs = {
            subprocess.run(
                [sys.executable, "-c", script],
                env={"PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(outputs) == 1

    def test_near_texts_have_far_hashes(self) -> None:
        names = np.array([f"u{number}" for number in range(20_000)], dtype=object)
        found = hashes(names)
        assert np.unique(found).size == names.size
        bits = ((found[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
        assert np.all(np.abs(bits - 0.5) < 5 * 0.5 / np.sqrt(names.size))


class TestFactorised:
    @staticmethod
    def plain(values: list[Any]) -> list[int]:
        numbers: dict[Any, int] = {}
        return [numbers.setdefault(value, len(numbers)) for value in values]

    @pytest.mark.parametrize(
        "make_value",
        [
            lambda number: f"uid-{number}",
            lambda number: f"{number}" + "z" * 60,
            lambda number: f"ü{number}",
            lambda number: number,
            lambda number: "x\0" * (number % 3) + str(number // 3),
            lambda number: ("" if number % 2 else "1") if number < 2 else f"{number}",
        ],
        ids=["short", "long", "not ascii", "integer", "nul", "empty"],
    )
    @pytest.mark.parametrize("few", [4096, 2])
    def test_agrees_with_a_dictionary(
        self, make_value: Any, few: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(groups, "_FEW", few)
        rng = np.random.default_rng(0)
        for order in (np.repeat(np.arange(40), 3), rng.permutation(np.repeat(np.arange(40), 3))):
            values = [make_value(int(number)) for number in order]
            array: np.ndarray[Any, Any] = np.empty(len(values), dtype=object)
            array[:] = values
            found, together = factorised(array)
            assert found.tolist() == self.plain(values)
            assert not together or (np.diff(found) >= 0).all()

    @pytest.mark.parametrize(
        "odd",
        [None, 1, b"u1", "\ud800", "u1\0", "u\u00e9", np.str_("u1"), float("inf"), ("a",)],
        ids=repr,
    )
    def test_one_odd_value_among_many_strings(self, odd: Any) -> None:
        values = [f"u{number * 7919 % 5000}" for number in range(12_000)] + [odd, "u1", odd]
        array: np.ndarray[Any, Any] = np.empty(len(values), dtype=object)
        array[:] = values
        assert factorised(array)[0].tolist() == self.plain(values)

    @pytest.mark.parametrize("mark", ["\0", "\ud800", ""], ids=["nul", "surrogate", "plain"])
    def test_numpys_own_strings(self, mark: str) -> None:
        values = [f"a{mark}{number * 7919 % 5000}" for number in range(12_000)]
        assert factorised(np.array(values))[0].tolist() == self.plain(values)

    def test_more_text_than_one_arrow_array_holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import pyarrow as pa

        whole = pa.array
        monkeypatch.setattr(pa, "array", lambda values: pa.chunked_array([whole(values)]))
        values = [f"u{number * 7919 % 5000}" for number in range(12_000)]
        assert factorised(np.array(values, dtype=object))[0].tolist() == self.plain(values)


def test_stable_order_of_few_and_many() -> None:
    rng = np.random.default_rng(1)
    for most in (10, 200_000):
        numbers = rng.integers(0, most, 5000)
        expected = np.argsort(numbers, kind="stable")
        assert np.array_equal(stable_order(numbers, most), expected)
