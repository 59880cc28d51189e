from typing import Any

import numpy as np
import pytest

from shuffledp.audit.audit_messages import as_messages, concatenate
from shuffledp.errors import InvalidInputError


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([0, 1, 1, 0], "numbers"),
        ([0.5, -1.25, -1.25, 0.5], "numbers"),
        ([0.0, -0.0, -0.0, 0.0], "numbers"),
        (np.array([0, 1, 1, 0], dtype=np.uint8), "numbers"),
        (np.array([0, 2**64 - 1, 2**64 - 1, 0], dtype=np.uint64), "numbers"),
        ([[0, 1], [1, 0], [1, 0], [0, 1]], "vectors"),
        ([[0.5, 1.0], [0.5, -1.0], [0.5, -1.0], [0.5, 1.0]], "vectors"),
        (["yes", "no", "no", "yes"], "texts"),
        ([b"\x00", b"\x00\x00", b"\x00\x00", b"\x00"], "texts"),
        ([[1], [1, 2], [1, 2], [1]], "sets"),
        ([{1, 2}, {3}, {3}, {2, 1}], "sets"),
    ],
)
def test_messages_have_equal_codes_if_they_are_equal(answers: Any, kind: str) -> None:
    messages = as_messages(answers)

    codes = messages.codes()
    assert messages.kind == kind
    assert codes[0] == codes[3] != codes[1] == codes[2]
    assert len(messages.columns()) == len(messages) == 4


@pytest.mark.parametrize(
    "answers",
    [3, [0, "a"], [[0], 1], [None, None], [float("nan"), 0.0], [[[1]], [[2]]], [2**70]],
)
def test_other_answers_are_refused(answers: Any) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        as_messages(answers)


def test_batches_are_put_together_if_they_are_of_one_kind() -> None:
    whole, real = as_messages([1, 2]), as_messages([0.5])

    both = concatenate([whole, real])
    assert both.codes().tolist() == as_messages([1.0, 2.0, 0.5]).codes().tolist()
    assert whole.like(real).codes().tolist() == both.codes()[:2].tolist()
    lists = concatenate([as_messages([[1], [2]]), as_messages([[1], [2, 3]])])
    assert lists.kind == "sets"
    with pytest.raises(InvalidInputError, match="of one kind"):
        concatenate([whole, as_messages(["1"])])
    with pytest.raises(InvalidInputError, match="2 widths"):
        concatenate([as_messages([[1, 2]]), as_messages([[1, 2, 3]])])


def test_columns_of_texts_and_sets_begin_with_their_length() -> None:
    assert as_messages(["ab", "c"]).columns().tolist() == [[2, 97, 98], [1, 99, 0]]
    sets = as_messages([{2}, {0, 2}]).columns()
    assert sets[:, :4].tolist() == [[1, 0, 0, 1], [2, 1, 0, 1]]
    assert sets.sum() == 2 * (1 + 2)
