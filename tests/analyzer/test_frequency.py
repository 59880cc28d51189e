import numpy as np
import pytest

from shuffledp import InvalidInputError
from shuffledp.analyzer.frequency import (
    FrequencyEstimate,
    agnostic_frequencies,
    stratified_frequencies,
)
from shuffledp.randomizers.kary_response import KRandomizedResponse
from shuffledp.types import Floats, Ints

K, RUNS = 5, 2_000
EPSILONS = np.array([0.5, 1.0, 3.0])
LEVEL_COUNTS = np.array([600, 900, 500])
N = 2_000
VALUES = np.repeat(np.arange(K), [800, 600, 400, 150, 50])
SHARES = np.bincount(VALUES) / N
KEEP, FLIP = KRandomizedResponse(K).densities(EPSILONS)


def messages_of(values: Ints, levels: Ints, rng: np.random.Generator) -> Ints:
    """Textbook randomized response, one row per collection."""
    honest = np.exp(EPSILONS) / (np.exp(EPSILONS) + K - 1)
    other = (values + rng.integers(1, K, values.shape)) % K
    return np.where(rng.random(values.shape) < honest[levels], values, other)


def simulated(
    *, stratified: bool, dependent: bool, runs: int = RUNS
) -> list[FrequencyEstimate]:
    """Many collections from the same people; levels are dealt anew unless dependent."""
    rng = np.random.default_rng(31)
    sorted_levels = np.repeat(np.arange(3), LEVEL_COUNTS)
    estimates = []
    for _ in range(runs):
        levels = sorted_levels if dependent else rng.permutation(sorted_levels)
        messages = messages_of(VALUES, levels, rng)
        cells = np.bincount(levels * K + messages, minlength=3 * K).reshape(3, K)
        if stratified:
            estimate = stratified_frequencies(
                cells, level_counts=LEVEL_COUNTS, keep=KEEP, flip=FLIP
            )
        else:
            estimate = agnostic_frequencies(
                cells.sum(axis=0), level_counts=LEVEL_COUNTS, keep=KEEP, flip=FLIP
            )
        estimates.append(estimate)
    return estimates


def stacked(estimates: list[FrequencyEstimate]) -> tuple[Floats, Floats]:
    return (
        np.array([estimate.value for estimate in estimates]),
        np.array([estimate.standard_error for estimate in estimates]),
    )


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("stratified", [False, True])
def test_estimates_are_unbiased_with_the_error_and_coverage_they_state(
    *, stratified: bool
) -> None:
    estimates = simulated(stratified=stratified, dependent=False)

    values, errors = stacked(estimates)
    intervals = np.array([estimate.interval(0.95) for estimate in estimates])

    spread = values.std(axis=0, ddof=1)
    # Five standard errors: five categories, a false alarm in 3e-6 of all seeds.
    assert np.all(np.abs(values.mean(axis=0) - SHARES) < 5.0 * spread / np.sqrt(RUNS))
    # 2,000 runs know a deviation to 1.6%; 5% is three times that.
    assert np.all(np.abs(errors.mean(axis=0) / spread - 1.0) < 0.05)
    hits = (intervals[:, :, 0] <= SHARES) & (intervals[:, :, 1] >= SHARES)
    # 2,000 runs know a coverage of 95% to 0.5%; 2% is four times that.
    assert np.all((hits.mean(axis=0) > 0.93) & (hits.mean(axis=0) < 0.97))


def test_agnostic_estimates_are_biased_if_levels_depend_on_values() -> None:
    estimates = simulated(stratified=False, dependent=True, runs=400)

    values, _ = stacked(estimates)

    bias = values.mean(axis=0) - SHARES
    honest = (KEEP - FLIP)[np.repeat(np.arange(3), LEVEL_COUNTS)]
    expected = np.bincount(VALUES, weights=honest) / honest.sum() - SHARES
    assert np.abs(expected).max() > 0.05
    # Five standard errors: a false alarm in 3e-6 of all seeds.
    spread = values.std(axis=0, ddof=1) / np.sqrt(400)
    assert np.all(np.abs(bias - expected) < 5.0 * spread)


def test_stratified_estimates_are_unbiased_even_if_levels_depend_on_values() -> None:
    estimates = simulated(stratified=True, dependent=True)

    values, errors = stacked(estimates)

    spread = values.std(axis=0, ddof=1)
    # Five standard errors: a false alarm in 3e-6 of all seeds.
    assert np.all(np.abs(values.mean(axis=0) - SHARES) < 5.0 * spread / np.sqrt(RUNS))
    # Shares cut off at 0 within a level make the stated error a little large.
    assert np.all(errors.mean(axis=0) / spread > 0.95)
    assert np.all(errors.mean(axis=0) / spread < 1.1)


def test_expected_message_counts_give_back_the_shares_exactly() -> None:
    shares = np.array([0.5, 0.25, 0.125, 0.0625, 0.0625])
    people = np.array([16_000_000, 32_000_000, 16_000_000])

    cells = people[:, None] * (FLIP[:, None] + (KEEP - FLIP)[:, None] * shares)
    whole = np.round(cells).astype(np.int64)
    stratified = stratified_frequencies(
        whole, level_counts=people, keep=KEEP, flip=FLIP
    )
    agnostic = agnostic_frequencies(
        whole.sum(axis=0), level_counts=people, keep=KEEP, flip=FLIP
    )

    # Counts are rounded to whole messages: 1 in 16 million, over a gap of 0.1.
    assert np.abs(stratified.value - shares).max() < 1e-6
    assert np.abs(agnostic.value - shares).max() < 1e-6
    assert (stratified.mode, agnostic.mode) == ("stratified", "agnostic")
    assert stratified.num_users == agnostic.num_users == 64_000_000


def test_estimates_of_all_categories_add_up_to_one() -> None:
    counts = np.array([[10, 3, 0, 0, 2], [0, 0, 9, 1, 0], [4, 4, 4, 4, 4]])
    people = counts.sum(axis=1)

    agnostic = agnostic_frequencies(
        counts.sum(axis=0), level_counts=people, keep=KEEP, flip=FLIP
    )
    stratified = stratified_frequencies(
        counts, level_counts=people, keep=KEEP, flip=FLIP
    )

    # A few roundings; a rare category comes out below 0 and stays there.
    assert abs(agnostic.value.sum() - 1.0) < 1e-12
    assert abs(stratified.value.sum() - 1.0) < 1e-12
    assert stratified.value.min() < 0.0


def test_intervals_are_two_sided_normal() -> None:
    estimate = FrequencyEstimate(np.array([0.3]), np.array([0.01]), 100, "agnostic")

    (ends,) = estimate.interval(0.95)
    (wider,) = estimate.interval(0.99)

    # The table value, to the digits that tables print.
    assert ends == pytest.approx([0.3 - 0.01959964, 0.3 + 0.01959964], abs=1e-9)
    assert wider[0] < ends[0] < ends[1] < wider[1]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95.0, np.nan])
def test_confidence_out_of_range_is_refused(confidence: float) -> None:
    estimate = FrequencyEstimate(np.array([0.3]), np.array([0.01]), 100, "agnostic")

    with pytest.raises(InvalidInputError, match="confidence"):
        estimate.interval(confidence)


def test_levels_that_send_nothing_but_noise_are_refused() -> None:
    keep, flip = KRandomizedResponse(2).densities(np.array([0.0, 1.0]))
    people = np.array([5, 5])

    with pytest.raises(InvalidInputError, match="above 0"):
        stratified_frequencies(
            np.array([[2, 3], [3, 2]]), level_counts=people, keep=keep, flip=flip
        )
    with pytest.raises(InvalidInputError, match="above 0"):
        agnostic_frequencies(
            np.array([2, 3]), level_counts=people[:1], keep=keep[:1], flip=flip[:1]
        )
