"""Encodings of single questions: buckets of answers, and refusals of other answers."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from shuffledp.errors import InvalidInputError
from shuffledp.statistics.questionnaire.choice_question import ChoiceQuestion
from shuffledp.statistics.questionnaire.group_mean_question import GroupMeanQuestion
from shuffledp.statistics.questionnaire.number_question import NumberQuestion
from shuffledp.statistics.questionnaire.question import GroupCounts, QuestionCounts
from shuffledp.statistics.questionnaire.table_question import TableQuestion

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("digits", [1, 2, 5, 12])
def test_whole_steps_are_encoded_exactly(digits: int) -> None:
    question = NumberQuestion("x", -3.0, 5.0, digits)
    steps = 2**digits - 1
    numbers = np.linspace(-3.0, 5.0, steps + 1)
    encoded = question.encode(numbers, rng=RNG)
    values = encoded @ 2 ** np.arange(digits)[::-1]
    # The division may miss a whole step by a rounding error, and then rounds next to it.
    assert np.abs(values - np.arange(steps + 1)).max() <= 1
    assert np.mean(values == np.arange(steps + 1)) > 0.99
    assert values[0] == 0
    assert values[-1] == steps


def test_numbers_between_steps_are_rounded_without_bias() -> None:
    question = NumberQuestion("x", 0.0, 1.0, digits=2)
    n = 40_000
    encoded = question.encode(np.full(n, 0.4), rng=np.random.default_rng(5))
    values = encoded @ [2, 1]
    assert set(values.tolist()) == {1, 2}
    # 0.4 x 3 = 1.2: a fifth is rounded up; six standard deviations, 2e-9 false alarms.
    assert abs(values.mean() - 1.2) < 6.0 * np.sqrt(0.16 / n)


@pytest.mark.parametrize(("low", "high", "digits"), [(0.0, 1.0, 3), (-2.0, 10.0, 7)])
def test_noise_on_a_mean_is_that_of_its_weights(
    low: float, high: float, digits: int
) -> None:
    question = NumberQuestion("x", low, high, digits)
    n, rng = 1_000, np.random.default_rng(8)
    numbers = rng.choice(np.linspace(low, high, 2**digits), n)
    encoded = question.encode(numbers, rng=rng)
    variances = rng.uniform(1.0, 9.0, digits)
    ones = encoded.sum(axis=0)
    groups = tuple(
        GroupCounts(np.array([n - count, count], dtype=float), variance, 0.0, 1)
        for count, variance in zip(ones, variances, strict=True)
    )
    estimate = question.estimate(QuestionCounts(groups, n, 0.0, 0.0))
    rounded = encoded @ 2.0 ** np.arange(digits)[::-1] / (2**digits - 1)
    assert estimate.value[0] == pytest.approx(low + (high - low) * rounded.mean())
    # The sum over digits of ((high - low) 2^j / (2^J - 1) / n)^2 V_j / 2, and rounding.
    weights = (high - low) * 2.0 ** np.arange(digits)[::-1] / (2**digits - 1) / n
    noise = float(weights**2 @ variances) / 2.0
    rounding = 0.25 * ((high - low) / (2**digits - 1)) ** 2 / n
    assert estimate.standard_error[0] ** 2 == pytest.approx(noise + rounding)


def test_error_weights_of_digits_are_the_noise_in_units_of_the_range() -> None:
    question = NumberQuestion("x", 5.0, 9.0, 4)
    n = 100
    for place, group in enumerate(question.groups):
        counts = tuple(
            GroupCounts(np.array([50.0, 50.0]), 7.0 if each == place else 0.0, 0.0, 1)
            for each in range(4)
        )
        exact = question.estimate(QuestionCounts(counts, n, 0.0, 0.0))
        alone = exact.standard_error[0] ** 2 - 0.25 * (4.0 / 15.0) ** 2 / n
        assert alone * (n / 4.0) ** 2 == pytest.approx(7.0 * group.error_weight)


def test_the_widest_ranges_give_numbers_or_a_refusal() -> None:
    question = NumberQuestion("x", -1.7e308, 1.7e308, digits=2)
    encoded = question.encode([-1.7e308, 0.0, 1.7e308], rng=RNG)
    assert encoded[[0, 2]].tolist() == [[0, 0], [1, 1]]
    groups = tuple(
        GroupCounts(np.array([1.0, 1.0]), variance, 0.0, 1) for variance in (1.0, 9e9)
    )
    with pytest.raises(InvalidInputError, match="largest number"):
        question.estimate(QuestionCounts(groups, 2, 0.0, 0.0))


@pytest.mark.parametrize(
    "answers", [[np.nan], [1.1], [-0.1], [np.inf], [[0.5]], ["a"], [None]]
)
def test_other_numbers_are_refused(answers: Any) -> None:
    question = NumberQuestion("x", 0.0, 1.0, 3)
    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=RNG)


@pytest.mark.parametrize(
    "terms",
    [
        ("", 0.0, 1.0, 3),
        (7, 0.0, 1.0, 3),
        ("x", 1.0, 1.0, 3),
        ("x", 0.0, np.inf, 3),
        ("x", np.nan, 1.0, 3),
        ("x", 0.0, 1.0, 0),
        ("x", 0.0, 1.0, 25),
        ("x", 0.0, 1.0, 2.5),
    ],
)
def test_other_terms_of_numbers_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidInputError):
        NumberQuestion(*terms)


def test_digits_that_nothing_chose_are_missed() -> None:
    question = NumberQuestion("x", 0.0, 1.0)
    with pytest.raises(InvalidInputError, match="digits of x"):
        question.encode([0.5], rng=RNG)


@pytest.mark.parametrize("num_users", [1, 10, 10**4, 10**8])
@pytest.mark.parametrize("noise", [0.5, 4.0, 40.0])
def test_chosen_digits_hardly_add_to_the_error(num_users: int, noise: float) -> None:
    digits = NumberQuestion("x", 0.0, 1.0).adapted(num_users, noise=noise).digits
    assert digits is not None
    rounding = 0.25 * num_users / (2.0**digits - 1.0) ** 2
    assert digits == 24 or np.sqrt(noise**2 + rounding) <= 1.02 * noise


@pytest.mark.parametrize(
    "answers",
    [[[0, 0]], [[0, 3]], [[-2, 0]], [[0]], [0, 1], [[0.0, 1.0]], [[np.nan, 1]], ["ab"]],
)
def test_other_choices_are_refused(answers: Any) -> None:
    question = ChoiceQuestion("q", ("a", "b", "c"), most=2)
    with pytest.raises(InvalidInputError):
        question.encode(answers, rng=RNG)


def test_choices_are_buckets() -> None:
    question = ChoiceQuestion("q", ("a", "b", "c"), most=2)
    encoded = question.encode([[0, 2], [1, -1], [-1, -1]], rng=RNG)
    assert encoded.tolist() == [[0, 2], [1, -1], [-1, -1]]


def refusal_of(question: Any, answers: Any) -> str:
    with pytest.raises(InvalidInputError) as raised:
        question.encode(answers, rng=RNG)
    return str(raised.value)


def test_minus_one_alone_is_no_answer() -> None:
    choice = ChoiceQuestion("q", ("a", "b", "c"))
    groups = GroupMeanQuestion("q", ("a", "b", "c"), 0.0, 1.0, digits=2)
    table = TableQuestion("q", {"a": ("x", "y"), "b": ("x", "y", "z")})

    assert refusal_of(choice, [3]) == (
        "Expected positions of options from 0 to 2, or -1 for no answer; 3, the number of "
        "options, is not one of them."
    )
    assert refusal_of(groups, [[3, 0.5]]) == (
        "Expected positions of groups from 0 to 2, or -1 for no answer; 3, the number of "
        "groups, is not one of them."
    )
    assert refusal_of(table, [[0, 3]]) == (
        "Expected positions of categories, from 0, or -1 for no answer; the number of "
        "categories is not one of them."
    )
    assert choice.encode([-1], rng=RNG).tolist() == [[-1]]
    assert groups.encode([[-1, 0.5]], rng=RNG).tolist() == [[-1, -1]]
    assert table.encode([[0, -1]], rng=RNG).tolist() == [[-1]]


@pytest.mark.parametrize(
    "terms", [("q", ("a",), 1), ("q", ("a", "a"), 1), ("q", ("a", "b"), 3)]
)
def test_other_terms_of_choices_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidInputError):
        ChoiceQuestion(*terms)


@pytest.mark.slow
@pytest.mark.parametrize("is_sparse", [False, True])
def test_combinations_have_the_variances_of_people_who_send_at_random(
    is_sparse: bool,
) -> None:
    """With one group the variance is exact; with more it is no smaller than simulated."""
    rng, n = np.random.default_rng(12), 400
    rates = np.where(np.arange(n) < 150, 0.3, 0.9)
    answers = rng.integers(0, 3, size=(n, 2))
    weights = [np.array([[1.0, -2.0, 0.5]]), np.array([[0.0, 1.5, 3.0]])]
    total = rates.sum()
    mean = rates.mean()
    sampling = (n / total) ** 2 * n * float((rates * (1.0 - rates)).mean())
    spread = (n / total) ** 2 * n * n / (n - 1) * float(((rates - mean) ** 2).mean())
    for used in ([0], [0, 1]):
        groups = tuple(
            GroupCounts(
                np.bincount(answers[:, g], minlength=3).astype(float), 4.0, 0.0, 1
            )
            for g in used
        )
        given = tuple(
            sparse.csr_array(weights[g]) if is_sparse else weights[g] for g in used
        )
        counts = QuestionCounts(groups, n, sampling, spread)
        stated = counts.combine(("y",), given).standard_error[0] ** 2
        values = np.stack([weights[g][0][answers[:, g]] for g in used], axis=1)
        draws = 20_000
        sums = np.empty(draws)
        for draw in range(draws):
            sent = rng.random((n, len(used))) < rng.permutation(rates)[:, None]
            sums[draw] = n / total * float((values * sent).sum())
        noise = 4.0 * sum(float((weights[g] ** 2).sum()) for g in used)
        simulated = sums.var() + noise
        # A variance of 20,000 draws is right to 1%: five times that, 6e-7 false alarms.
        assert simulated <= 1.05 * stated
        if used == [0]:
            assert stated <= 1.05 * simulated
