import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.finite_messages import kary
from oracles.shuffled import largest_shuffled_divergences

from shuffledp import (
    GridResponse,
    InvalidInputError,
    KRandomizedResponse,
    Mean,
    OneBit,
    Population,
    ShuffledReports,
    account,
)
from shuffledp.statistics.single_message import SingleMessage
from shuffledp.types import Floats

LOW, HIGH = -3.0, 5.0
sizes = pytest.mark.parametrize("k", [2, 3, 4, 7])


def textbook(level: float, k: int, values: Floats) -> Floats:
    """Message probabilities of numbers in [0, 1], shape (values, messages).

    Rounding puts a number's weight on two grid values in proportion to their nearness,
    which is what a hat function says.
    """
    nearness = 1.0 - np.abs(values[:, None] * (k - 1) - np.arange(k))
    weights: Floats = np.maximum(nearness, 0.0) @ kary(level, k)
    return weights


@sizes
@pytest.mark.parametrize("level", [0.1, 1.0, 6.0])
def test_moments_are_those_of_all_messages(k: int, level: float) -> None:
    device, share = GridResponse(LOW, HIGH, num_values=k), np.linspace(0.0, 1.0, 43)
    sent, numbers = textbook(level, k, share), np.linspace(LOW, HIGH, k)

    mean, variance = device.moments(np.array([level]), LOW + (HIGH - LOW) * share)

    expected = sent @ numbers
    # Rounding, and the 8e-16 by which devices are more private.
    assert mean[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    spread = (sent * (numbers - expected[:, None]) ** 2).sum(axis=1)
    assert variance[0] == pytest.approx(spread, rel=1e-12)
    # On a straight line of the values: unbiased.
    assert np.diff(expected, 2) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("counts", [{1.0: 3}, {0.5: 1, 2.0: 2}])
@pytest.mark.parametrize("k", [2, 3])
def test_estimates_of_all_outcomes_are_unbiased_with_the_exact_variance(
    k: int, counts: dict[float, int]
) -> None:
    people, held = Population.from_counts(counts), [0.1, 0.5, 0.8]
    mean = Mean(0.0, 1.0, "stratified", GridResponse(0.0, 1.0, num_values=k))
    levels = people.budgets()
    laws = [
        textbook(level, k, np.array([value]))[0]
        for level, value in zip(levels, held, strict=True)
    ]

    chances, estimates = [], []
    for messages in itertools.product(range(k), repeat=3):
        chances.append(math.prod(law[m] for law, m in zip(laws, messages, strict=True)))
        seen = ShuffledReports(mean.identity, np.array(messages), levels)
        estimates.append(mean.estimate(seen, people).value)

    weights, found = np.array(chances), np.array(estimates)
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert weights @ found == pytest.approx(np.mean(held), rel=1e-11)
    variances = []
    for law, level in zip(laws, levels.tolist(), strict=True):
        numbers = np.linspace(0.0, 1.0, k)
        slope = math.expm1(level) / (math.exp(level) + k - 1)
        variances.append((law @ numbers**2 - (law @ numbers) ** 2) / slope**2 / 9.0)
    assert weights @ (found - np.mean(held)) ** 2 == pytest.approx(
        sum(variances), rel=1e-11
    )


@given(
    k=st.integers(2, 2**20),
    level=st.floats(0.0, 700.0),
    value=st.floats(0.0, 1.0),
)
def test_no_value_has_a_larger_variance_than_said(
    k: int, level: float, value: float
) -> None:
    device, levels = GridResponse(num_values=k), np.array([level])

    mean, variance = device.moments(levels, np.array([value]))
    same, most = device.largest_moments(levels, np.array([value]))

    assert same == mean
    # Rounding.
    assert variance[0, 0] <= most[0, 0] * (1.0 + 1e-12)


@pytest.mark.parametrize("k", [3, 4, 16])
def test_the_bound_of_the_variance_is_a_parabola_that_is_reached(k: int) -> None:
    device, levels = GridResponse(LOW, HIGH, num_values=k), np.array([0.5, 3.0])
    points = np.linspace(LOW, HIGH, k)

    between = (points[1:] + points[:-1]) / 2.0
    _, exact = device.moments(levels, between)
    _, most = device.largest_moments(levels, between)
    _, along = device.largest_moments(levels, np.linspace(LOW, HIGH, 41))

    assert most == pytest.approx(exact, rel=1e-12)
    assert np.diff(along, 3, axis=1) == pytest.approx(0.0, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("halfway", [True, False])
def test_simulated_errors_are_predicted(mode: str, halfway: bool) -> None:
    people = Population.from_counts({3.0: 6_000, 5.0: 4_000})
    mean = Mean(0.0, 1.0, mode, GridResponse(num_values=9))  # type: ignore[arg-type]
    rng, runs = np.random.default_rng(71), 2_000
    # Numbers halfway between grid values are rounded most; the others are grid values.
    values = np.array([0.3125, 0.6875]) if halfway else np.array([0.25, 0.75])
    spread = float(values.std())

    estimates = []
    for _ in range(runs):
        low = int(rng.hypergeometric(5_000, 5_000, 6_000))
        holders = np.array([[low, 6_000 - low], [5_000 - low, low - 1_000]])
        tally = mean.draw_tally(values, holders, people, rng=rng)
        estimates.append(mean.estimate(tally, people, spread=spread))

    errors = np.array([each.value for each in estimates]) - 0.5
    predicted = mean.predicted_error(people, spread=spread)
    # 2,000 runs know a deviation to 1.6%: five standard errors, a false alarm in 6e-7.
    ratio = float(np.sqrt(np.mean(errors**2))) / predicted
    if halfway:
        assert abs(ratio - 1.0) < 0.08
        assert estimates[0].standard_error == pytest.approx(predicted, rel=0.01)
    else:
        assert ratio < 1.08
    assert abs(errors.mean()) < 5.0 * predicted / math.sqrt(runs)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["agnostic", "stratified"])
@pytest.mark.parametrize("k", [2, 3, 20, 101])
def test_the_certificate_is_that_of_kary_response(k: int, mode: str) -> None:
    people = Population.from_counts({0.5: 40, 2.0: 300, 6.0: 5})
    protocols = [
        SingleMessage(device, mode)  # type: ignore[arg-type]
        for device in (GridResponse(LOW, HIGH, num_values=k), KRandomizedResponse(k))
    ]

    grid, kary_response = (
        account(each, people, delta=1e-5, absent=3) for each in protocols
    )

    assert grid.levels == kary_response.levels
    mean = Mean(LOW, HIGH, mode, GridResponse(LOW, HIGH, num_values=k))  # type: ignore[arg-type]
    assert account(mean, people, delta=1e-5, absent=3).levels == grid.levels


@pytest.mark.parametrize("crowd", [{0.5: 1, 2.0: 1}, {1.0: 3}, {0.3: 2, 4.0: 1}])
@pytest.mark.parametrize("k", [2, 3])
def test_no_pair_of_values_in_between_is_worse_than_certified(
    crowd: dict[float, int], k: int
) -> None:
    people, values = Population.from_counts(crowd), np.array([0.0, 0.2, 0.5, 0.7, 1.0])
    senders = [textbook(level, k, values) for level in crowd]

    for position, level in enumerate(crowd):
        epsilons = [0.0, 0.1 * level, 0.5 * level, 0.9 * level]
        exact = largest_shuffled_divergences(
            senders, list(crowd.values()), position, epsilons
        )
        for epsilon, worst in zip(epsilons, exact, strict=True):
            (answer,) = account(
                SingleMessage(GridResponse(num_values=k)),
                people,
                epsilon=epsilon,
                levels=[level],
            ).levels
            # Sums of at most 81 doubles.
            assert worst <= answer.delta_central + 1e-14
            assert answer.delta_central_lower <= worst + 1e-14


@pytest.mark.slow
def test_two_values_are_one_bit() -> None:
    grid, bit = GridResponse(LOW, HIGH, num_values=2), OneBit(LOW, HIGH)
    people = Population.from_counts({0.5: 40, 2.0: 300})
    levels, values = np.array([0.0, 1.0, 9.0]), np.linspace(LOW, HIGH, 9)

    for ours, theirs in zip(
        grid.moments(levels, values), bit.moments(levels, values), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-12)
    pair = [account(SingleMessage(each), people, delta=1e-6) for each in (grid, bit)]
    assert pair[0].levels == pair[1].levels
    predicted = [Mean(LOW, HIGH, "agnostic", each) for each in (grid, bit)]
    assert predicted[0].predicted_error(people, spread=1.0) == pytest.approx(
        predicted[1].predicted_error(people, spread=1.0), rel=1e-12
    )


def test_numbers_of_the_grid_are_kept_where_nothing_is_randomized() -> None:
    device, rng = GridResponse(0.0, 1.0, num_values=11), np.random.default_rng(5)
    values = np.linspace(0.0, 1.0, 11)

    messages = device.randomize(values, np.full(11, 700.0), rng=rng)

    assert messages.tolist() == list(range(11))
    assert messages.dtype == np.uint8
    assert device.decode(messages) == pytest.approx(values, abs=1e-15)


@given(
    k=st.integers(2, 5_000), other=st.integers(2, 5_000), level=st.floats(0.01, 700.0)
)
def test_comparable_levels_have_equally_rare_messages(
    k: int, other: int, level: float
) -> None:
    first, second = GridResponse(num_values=k), GridResponse(num_values=other)

    (found,) = first.comparable_levels(np.array([level]), second)

    # e^found + k - 1 = e^level + other - 1, in exact numbers; at least 1.
    growth = Fraction(math.exp(level)) + other - k
    if growth > 1:
        # The logarithm of a difference near 1 loses digits.
        assert math.exp(found) == pytest.approx(float(growth), rel=1e-11, abs=1e-9)
    else:
        assert found == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("k", [1, 0, -3, 2.0, 2.5, True, "7", None, 2**20 + 1])
def test_sizes_that_make_no_sense_are_refused(k: object) -> None:
    with pytest.raises(InvalidInputError, match="values of a grid"):
        GridResponse(num_values=k)  # type: ignore[arg-type]


@pytest.mark.parametrize("ends", [(1.0, 1.0), (2.0, 1.0), (0.0, math.inf)])
def test_ranges_that_make_no_sense_are_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="Expected"):
        GridResponse(*ends)


@pytest.mark.parametrize("messages", [[-1], [5], [0.5], [[1]], ["1"]])
def test_messages_that_there_are_not_are_refused(messages: object) -> None:
    with pytest.raises(InvalidInputError, match="messages"):
        GridResponse(num_values=5).check_messages(np.array(messages))


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan])
def test_people_out_of_range_are_drawn_neither_alone_nor_together(value: float) -> None:
    device, rng, levels = GridResponse(), np.random.default_rng(1), np.array([1.0])

    with pytest.raises(InvalidInputError, match=r"numbers in \[0, 1\]"):
        device.randomize([value], levels, rng=rng)
    with pytest.raises(InvalidInputError, match=r"numbers in \[0, 1\]"):
        device.draw_sums(np.array([value]), np.array([[1]]), levels, rng=rng)


def test_ten_billion_people_are_drawn_at_once() -> None:
    device, rng = GridResponse(num_values=1_000), np.random.default_rng(2)
    counts, levels = np.full((1, 2), 5 * 10**9), np.array([15.0])

    ((number, total, squares),) = device.draw_sums(
        np.array([0.25, 0.7501]), counts, levels, rng=rng
    )

    mean, variance = device.moments(levels, np.array([0.25, 0.7501]))
    steps, n = mean[0] * 999.0, 10**10
    assert number == n
    # Five standard errors of a sum: a false alarm in 6e-7 of all seeds.
    spread = math.sqrt(5e9 * float(variance.sum())) * 999.0
    assert abs(total - 5e9 * steps.sum()) < 5.0 * spread
    expected = 5e9 * float((steps**2).sum() + variance.sum() * 999.0**2)
    # A square is at most 999 times its root: a crude bound of the deviation.
    assert abs(squares - expected) < 2.0 * 999.0 * 5.0 * spread
