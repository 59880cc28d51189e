"""Joint tables and pairs of attributes: cells, margins and refusals."""

from typing import Any

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts
from shuffledp.statistics.questionnaire.table_question import TableQuestion

ATTRIBUTES = {"sex": ("f", "m"), "age": ("young", "old", "older"), "city": ("a", "b")}
RNG = np.random.default_rng(4)


def counted(
    question: TableQuestion, answers: Any, *, sampling: float = 0.0, spread: float = 0.0
) -> QuestionCounts:
    """Exact counts of these people, as if they had a noise variance of 3."""
    (group,) = question.groups
    cells = question.encode(answers, rng=RNG)
    value = np.bincount(cells.ravel(), minlength=group.buckets).astype(float)
    return QuestionCounts(
        (GroupCounts(value, 3.0, 0.0, group.most),), len(answers), sampling, spread
    )


def people(n: int = 500) -> Any:
    return np.column_stack([RNG.integers(0, size, n) for size in (2, 3, 2)])


@pytest.mark.parametrize("pairs", [False, True])
def test_cells_hold_the_people_that_their_labels_say(pairs: bool) -> None:
    question, answers = TableQuestion("who", ATTRIBUTES, pairs), people()
    found = question.estimate(counted(question, answers))
    names = list(ATTRIBUTES)
    assert len(found.labels) == (6 + 4 + 6 if pairs else 12)
    for label, value in zip(found.labels, found.value.tolist(), strict=True):
        inside = np.ones(len(answers), dtype=bool)
        for part in label.split(", "):
            name, option = part.split("=")
            place = ATTRIBUTES[name].index(option)
            inside &= answers[:, names.index(name)] == place
        assert value == inside.sum()
    assert found.standard_error == pytest.approx(np.sqrt(3.0))


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("names", [("age",), ("city", "sex"), ("sex", "age")])
def test_margins_add_up_cells_and_their_noise(
    pairs: bool, names: tuple[str, ...]
) -> None:
    question, answers = TableQuestion("who", ATTRIBUTES, pairs), people()
    margin = question.estimate(counted(question, answers)).margin(*names)
    places = [list(ATTRIBUTES).index(name) for name in names]
    for label, value in zip(margin.labels, margin.value.tolist(), strict=True):
        options = [part.split("=")[1] for part in label.split(", ")]
        wanted = [
            ATTRIBUTES[name].index(o) for name, o in zip(names, options, strict=True)
        ]
        assert value == np.all(answers[:, places] == wanted, axis=1).sum()
    cells = {True: {1: 2, 2: 1}, False: {1: 4, 2: 2}}[pairs][len(names)]
    if not pairs and names == ("sex", "age"):
        cells = 2
    if not pairs and names == ("city", "sex"):
        cells = 3
    assert margin.standard_error == pytest.approx(np.sqrt(3.0 * cells))


def test_combinations_of_several_answers_in_a_group_have_a_bound_that_holds() -> None:
    """People who answer or not: the error of a sum over several of their answers."""
    rng = np.random.default_rng(9)
    question, answers = TableQuestion("who", ATTRIBUTES, pairs=True), people(300)
    n = len(answers)
    rates = np.where(np.arange(n) < 100, 0.2, 0.9)
    total, mean = rates.sum(), rates.mean()
    sampling = (n / total) ** 2 * n * float((rates * (1.0 - rates)).mean())
    spread = (n / total) ** 2 * n * n / (n - 1) * float(((rates - mean) ** 2).mean())
    counts = counted(question, answers, sampling=sampling, spread=spread)
    (group,) = question.groups
    weights = rng.normal(size=(1, group.buckets))
    stated = counts.combine(("y",), (weights,)).standard_error[0] ** 2
    cells = question.encode(answers, rng=rng)
    sums = np.empty(20_000)
    for draw in range(sums.size):
        sent = rng.random(cells.shape) < rng.permutation(rates)[:, None]
        sums[draw] = n / total * float((weights[0][cells] * sent).sum())
    noise = 3.0 * float((weights**2).sum())
    # A variance of 20,000 draws is right to 1%: five times that, 6e-7 false alarms.
    assert sums.var() + noise <= 1.05 * stated


@pytest.mark.parametrize(
    "answers",
    [[[0, 0]], [[2, 0, 0]], [[0, -1, 0]], [0, 0, 0], [[0.0, 0.0, 0.0]], [["f", 0, 0]]],
)
def test_other_answers_are_refused(answers: Any) -> None:
    question = TableQuestion("who", ATTRIBUTES)
    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=RNG)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"sex": ("f", "m")},
        {"sex": ("f", "m"), "age": ("young",)},
        {"sex": ("f", "f"), "age": ("young", "old")},
        {"sex": "fm", "age": ("young", "old")},
        {"sex": (1, 2), "age": ("young", "old")},
        {"": ("f", "m"), "age": ("young", "old")},
        {str(place): ("a", "b") for place in range(9)},
        {str(place): tuple(map(str, range(64))) for place in range(4)},
        (("sex", ("f", "m")), ("sex", ("f", "m"))),
    ],
)
def test_other_attributes_are_refused(attributes: Any) -> None:
    with pytest.raises(InvalidInputError):
        TableQuestion("who", attributes)


def test_other_margins_are_refused() -> None:
    joint = TableQuestion("who", ATTRIBUTES)
    pairs = TableQuestion("who", ATTRIBUTES, pairs=True)
    answers = people()
    for names in ((), ("size",), ("sex", "sex")):
        with pytest.raises(InvalidInputError):
            joint.estimate(counted(joint, answers)).margin(*names)
    with pytest.raises(InvalidInputError, match="only pairs"):
        pairs.estimate(counted(pairs, answers)).margin("sex", "age", "city")
