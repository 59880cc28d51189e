"""How many people made each choice: unbiased, with their covariance, and projected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shuffledp.analyzer.choice_counts import ChoiceCounts, count_choices
from shuffledp.analyzer.projection import project
from shuffledp.errors import InvalidInputError, PopulationError
from shuffledp.population import Population
from shuffledp.randomizers.kary_response import KRandomizedResponse

CHOICES = np.array([0.5, 1.0, 2.0])


def test_choices_as_they_are_give_exact_numbers() -> None:
    counted = count_choices(np.array([1, 0, 3]), CHOICES, epsilon=None)

    assert counted.value.tolist() == [1.0, 0.0, 3.0]
    assert counted.covariance is None
    assert counted.standard_error.tolist() == [0.0, 0.0, 0.0]
    # Whoever plans needs somebody for every choice.
    assert counted.people().counts.tolist() == [1, 1, 2]


@pytest.mark.slow
def test_responses_give_unbiased_numbers_with_the_stated_covariance() -> None:
    rng, runs, counts = np.random.default_rng(2), 3_000, np.array([300, 600, 100])
    held = np.repeat(np.arange(3), counts)

    values, stated = np.empty((runs, 3)), np.zeros((3, 3))
    for run in range(runs):
        reports = KRandomizedResponse(3).randomize(held, np.full(1000, 0.8), rng=rng)
        counted = count_choices(np.bincount(reports, minlength=3), CHOICES, epsilon=0.8)
        assert counted.covariance is not None
        values[run] = counted.value
        stated += counted.covariance / runs

    error = np.sqrt(np.diag(stated) / runs)
    assert np.all(np.abs(values.mean(axis=0) - counts) < 4.0 * error)
    np.testing.assert_allclose(values.sum(axis=1), 1000.0, rtol=1e-9)
    # Relative to the variances; a covariance over 3000 runs is off by 2% of them.
    off = np.cov(values.T) - stated
    scale = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
    assert np.all(np.abs(off) < 0.08 * scale)


@given(
    values=arrays(np.float64, st.integers(1, 6), elements=st.floats(-50.0, 50.0)),
    total=st.floats(0.0, 100.0),
)
def test_projections_are_the_nearest_points(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], total: float
) -> None:
    nearest = project(values, total)

    assert nearest.min() >= 0.0
    assert nearest.sum() == pytest.approx(total, abs=1e-9)
    # No shift of mass between two choices comes nearer: (x - y) is largest where y > 0.
    slack = values - nearest
    positive = nearest > 1e-9
    if positive.any():
        assert np.all(slack[positive] >= slack.max() - 1e-9)


@given(
    noise=arrays(np.float64, 4, elements=st.floats(-900.0, 900.0)),
    num_users=st.integers(4, 1000),
)
def test_people_to_plan_with_are_whole_and_as_many(
    noise: np.ndarray[tuple[int], np.dtype[np.float64]], num_users: int
) -> None:
    choices, value = np.arange(1.0, 5.0), noise - noise.mean() + num_users / 4

    counted = ChoiceCounts(choices, value, np.eye(4), num_users)

    assert counted.people().num_users == num_users
    assert counted.projected.min() >= 0.0
    assert counted.projected.sum() == pytest.approx(num_users)


def test_numbers_that_make_no_sense_are_refused() -> None:
    ones = np.ones(3)

    for choices, value, covariance, users in (
        (CHOICES, np.ones(2), None, 2),
        (CHOICES[::-1], ones, None, 3),
        (CHOICES * np.nan, ones, None, 3),
        (CHOICES, ones, None, 4),
        (CHOICES, ones * np.nan, None, 3),
        (CHOICES, np.array([-1.0, 2.0, 2.0]), None, 3),
        (CHOICES, ones, np.eye(2), 3),
        (CHOICES, 0 * ones, None, 0),
    ):
        with pytest.raises(PopulationError):
            ChoiceCounts(choices, value, covariance, users)
    with pytest.raises(PopulationError):
        ChoiceCounts(CHOICES, ones * 2 / 3, np.eye(3), 2).people()
    for reports in ([], [0, 0, 0], [3, -1, 0], [1, 2], [[1, 1, 1]], [0.0, 1.0, 2.0]):
        with pytest.raises(InvalidInputError):
            count_choices(np.array(reports), CHOICES, epsilon=None)
    with pytest.raises(InvalidInputError):
        count_choices(np.array([0, 1, 1]), CHOICES, epsilon=0.0)
    assert ChoiceCounts.of(Population.from_counts({1.0: 2})).num_users == 2
