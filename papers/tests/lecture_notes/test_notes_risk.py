"""Private means and local SGD: unbiased, within their bounds, with input checks."""

import math

import numpy as np
import pytest

from shuffledp.errors import InvalidInputError
from shuffledp.types import Floats
from shuffledp_papers.lecture_notes.risk import (
    LocalSgd,
    on_ball,
    private_mean,
    strongly_convex_risk,
)


@pytest.mark.slow
def test_private_means_have_the_stated_error() -> None:
    rng, n, d, epsilon, runs = np.random.default_rng(3), 400, 4, 0.9, 3_000
    vectors = rng.uniform(-1.0, 1.0, (n, d)) / math.sqrt(d)

    errors = np.array(
        [private_mean(vectors, epsilon, rng=rng) for _ in range(runs)]
    ) - vectors.mean(axis=0)

    # Four coordinates: a false alarm in 400,000 seeds.
    spread = errors.std(axis=0) / math.sqrt(runs)
    assert np.all(np.abs(errors.mean(axis=0)) < 5.0 * spread)
    # Exactly (d c^2 - mean of |x|^2) / n; the mean of 3,000 has a deviation of 1.3%.
    exact = 2.0 * strongly_convex_risk(n, d, epsilon) - np.sum(vectors**2) / n**2
    assert np.mean(np.sum(errors**2, axis=1)) == pytest.approx(exact, rel=0.07)


def test_local_sgd_finds_a_minimum_that_privacy_hides_little_of() -> None:
    rng, n, d = np.random.default_rng(4), 200_000, 2
    target = np.array([0.3, -0.2])

    def gradients(people: slice, point: Floats) -> Floats:
        size = people.stop - people.start
        return np.broadcast_to((point - target) / 4.0, (size, d))

    found = LocalSgd(200).run(
        gradients, num_users=n, num_dimensions=d, epsilon=3.0, rng=rng
    )

    assert np.linalg.norm(found - target) < 0.12


def test_points_stay_on_the_ball() -> None:
    assert on_ball(np.array([3.0, 4.0])).tolist() == pytest.approx([0.6, 0.8])
    assert on_ball(np.array([0.3, 0.4])).tolist() == [0.3, 0.4]


def test_what_is_out_of_range_is_refused() -> None:
    rng = np.random.default_rng(1)

    for vectors in (np.full((3, 4), 0.6), np.full((3, 4), np.nan), np.zeros(3)):
        with pytest.raises(InvalidInputError):
            private_mean(vectors, 1.0, rng=rng)
    with pytest.raises(InvalidInputError, match="at least 10 people"):
        LocalSgd(10).run(
            lambda people, point: np.zeros((1, 1)),
            num_users=5,
            num_dimensions=1,
            epsilon=1.0,
            rng=rng,
        )
